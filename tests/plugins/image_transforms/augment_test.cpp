// transform:rand_augment and trivial_augment: what is drawn, and how strength grows with the epoch.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include <plugins/image_transforms/pictures.hpp>

namespace tenon::test {
namespace {

TEST(RandAugment, NoOperationAndTheIdentityHandTheImageOn) {
  for (const std::string params : {R"({"num_ops": 0})", R"({"operations": ["identity"], "num_ops": 3})",
                                   R"({"magnitude": 0, "operations": ["rotate", "shear_x", "translate_y"]})"}) {
    MemorySample sample = sample_of(noise(6, 7, 3));
    Rng random(3);
    image_transform("rand_augment", params)->apply(sample, random, {});
    EXPECT_EQ(sample.written_fields(), 0U) << params;
  }
}

TEST(RandAugment, OperationsFollowOneAnother) {
  const Picture in = noise(16, 16, 3);
  const Picture once = applied("rand_augment", R"({"num_ops": 1, "operations": ["solarize"]})", in);
  EXPECT_NE(once, in);
  const Picture twice = applied("rand_augment", R"({"num_ops": 2, "operations": ["solarize"]})", in);
  EXPECT_EQ(twice, applied("rand_augment", R"({"num_ops": 1, "operations": ["solarize"]})", once));
}

TEST(RandAugment, AStepReadsWhatTheOneBeforeItWroteAlsoBehindOneThatDoesNothing) {
  const Picture in = noise(12, 14, 3);
  // All that up to three steps, of either direction, can make of it.
  std::set<std::vector<uint8_t>> possible{in.bytes};
  for (int step = 0; step < 3; ++step) {
    for (const std::vector<uint8_t>& before : std::set<std::vector<uint8_t>>(possible)) {
      Picture picture = in;
      picture.bytes = before;
      for (uint64_t key = 0; key < 8; ++key) {
        possible.insert(applied("rand_augment", R"({"num_ops": 1, "operations": ["sharpness"]})", picture, key).bytes);
      }
    }
  }
  ASSERT_EQ(possible.size(), 1U + 2 + 4 + 8);
  const auto transform = image_transform("rand_augment", R"({"num_ops": 3, "operations": ["sharpness", "identity"]})");
  std::set<std::vector<uint8_t>> seen;
  for (uint64_t key = 0; key < 300; ++key) seen.insert(applied(*transform, in, key).bytes);
  EXPECT_EQ(seen, possible);
}

TEST(Policies, RefuseAFillOfOtherChannelsThanTheImageHas) {
  for (const std::string name : {"rand_augment", "trivial_augment"}) {
    const auto transform = image_transform(name, R"({"operations": ["rotate"], "fill": [1, 2, 3]})");
    (void)transform->spec({{"image", Dtype::kUint8, {"H", "W", "C"}}});
    const auto rotated = [&] {
      for (uint64_t key = 0; key < 8; ++key) (void)applied(*transform, noise(9, 8, 4), key);
    };
    const Error error = error_of(rotated);
    EXPECT_EQ(error.code(), ErrorCode::kData) << name;
    EXPECT_EQ(std::string(error.what()), "fill has 3 elements, but the image has 4 channels") << name;
  }
}

const std::vector<std::string>& operations() {
  static const std::vector<std::string> all{"identity",  "shear_x",    "shear_y",      "translate_x", "translate_y",
                                            "rotate",    "brightness", "color",        "contrast",    "sharpness",
                                            "posterize", "solarize",   "autocontrast", "equalize"};
  return all;
}

/// What each operation makes of an image at full strength: one picture, or one for each direction.
std::map<std::vector<uint8_t>, std::string> results_of_operations(const std::string& policy, const std::string& more,
                                                                  const Picture& in) {
  std::map<std::vector<uint8_t>, std::string> results;
  for (const std::string& operation : operations()) {
    std::string params = R"({"operations": [")";
    params.append(operation).append("\"]").append(more).append("}");
    const auto alone = image_transform(policy, params);
    for (uint64_t key = 0; key < 40; ++key) {
      const std::vector<uint8_t> bytes = applied(*alone, in, key).bytes;
      if (bytes == in.bytes && operation != "identity") continue;  // without strength
      EXPECT_EQ(results.try_emplace(bytes, operation).first->second, operation) << "two that make the same";
    }
  }
  return results;
}

/// The sum of (seen − expected)² / expected.
double chi_square(const std::map<std::vector<uint8_t>, int>& seen,
                  const std::map<std::vector<uint8_t>, double>& expected) {
  double sum = 0;
  for (const auto& [bytes, count] : expected) {
    const auto found = seen.find(bytes);
    const double distance = (found == seen.end() ? 0 : found->second) - count;
    sum += distance * distance / count;
  }
  return sum;
}

/// Draws often, and compares with how often each result is due, where full strength comes in `share` of all draws of
/// operations that have strength.
void expect_even_draws(const std::string& policy, const std::string& more, double share) {
  constexpr int kDraws = 4200;
  Picture in = noise(40, 44, 3);
  for (uint8_t& byte : in.bytes) byte = static_cast<uint8_t>(40 + byte / 2);
  const auto results = results_of_operations(policy, more, in);
  std::map<std::string, double> ways;
  for (const auto& [bytes, operation] : results) ++ways[operation];
  ASSERT_EQ(ways.size(), operations().size());
  const double each = static_cast<double>(kDraws) / static_cast<double>(operations().size());
  std::map<std::vector<uint8_t>, double> expected;
  for (const auto& [bytes, operation] : results) {
    const bool always = operation == "identity" || operation == "autocontrast" || operation == "equalize";
    expected[bytes] += each * (always ? 1 : share) / ways[operation];
    if (!always) expected[in.bytes] += each * (1 - share) / ways[operation];
  }
  const auto transform = image_transform(policy, "{" + more.substr(2) + "}");
  std::map<std::vector<uint8_t>, int> seen;
  for (uint64_t key = 0; key < kDraws; ++key) ++seen[applied(*transform, in, key).bytes];
  EXPECT_EQ(seen.size(), expected.size()) << "nothing but these comes out";
  ASSERT_EQ(expected.size(), 14U + 9) << "nine of them have two directions";
  EXPECT_LT(chi_square(seen, expected), 48.3)
      << "a thousandth of all even draws are further off, by 22 degrees of freedom";
}

TEST(RandAugment, DrawsAllOperationsAndBothDirectionsAlike) {
  expect_even_draws("rand_augment", R"(, "num_ops": 1, "magnitude": 30)", 1);
}

TEST(TrivialAugment, DrawsAllOperationsAndBothDirectionsAlike) {
  expect_even_draws("trivial_augment", R"(, "num_magnitude_bins": 2)", 0.5);
}

TEST(RandAugment, RefusesAMagnitudeBeyondTheLast) {
  EXPECT_EQ(error_of([] { (void)image_transform("rand_augment", R"({"magnitude": 31})"); }).pointer(), "/magnitude");
  EXPECT_EQ(error_of([] { (void)image_transform("rand_augment", R"({"operations": ["turn"]})"); }).pointer(),
            "/operations/0");
}

TEST(TrivialAugment, DrawsAStrengthForEachImage) {
  const Picture in = noise(24, 24, 3);
  const auto transform = image_transform("trivial_augment", R"({"operations": ["solarize"], "num_magnitude_bins": 4})");
  std::set<std::vector<uint8_t>> seen;
  for (uint64_t key = 0; key < 100; ++key) seen.insert(applied(*transform, in, key).bytes);
  EXPECT_EQ(seen.size(), 4U);
}

struct Growing {
  std::string name;
  std::string params;
};

const std::vector<Growing>& growing() {
  static const std::vector<Growing> all{
      {"random_horizontal_flip", R"("p": 1)"},
      {"random_vertical_flip", R"("p": 1)"},
      {"random_rotation", R"("degrees": [30, 30])"},
      {"random_affine", R"("degrees": [30, 30], "scale": [2, 2], "shear": [10, 10])"},
      {"random_perspective", R"("p": 1, "distortion_scale": 0.8)"},
      {"random_resized_crop", R"("height": 24, "width": 24, "scale": [0.3, 0.3])"},
      {"random_crop", R"("height": 24, "width": 24, "padding": [8])"},
      {"color_jitter", R"("brightness": [0.5, 0.5], "hue": [0.2, 0.2])"},
      {"random_grayscale", R"("p": 1)"},
      {"random_autocontrast", R"("p": 1)"},
      {"random_equalize", R"("p": 1)"},
      {"random_erasing", R"("p": 1)"},
      {"rand_augment", R"("operations": ["rotate", "brightness", "solarize"])"},
      {"trivial_augment", R"("operations": ["rotate"], "num_magnitude_bins": 2)"},
  };
  return all;
}

TEST(Grow, ChangesNothingInTheFirstEpochAndAllFromTheLastOn) {
  Picture in = noise(24, 24, 3);
  for (uint8_t& byte : in.bytes) byte = static_cast<uint8_t>(60 + byte / 4);
  for (const Growing& each : growing()) {
    const auto grows = image_transform(each.name, "{" + each.params + R"(, "grow": 4})");
    const auto full = image_transform(each.name, "{" + each.params + "}");
    int between = 0;
    int changed = 0;
    for (uint64_t key = 0; key < 40; ++key) {
      EXPECT_EQ(applied(*grows, in, key, {0, 10}), in) << each.name;
      EXPECT_EQ(applied(*grows, in, key, {4, 10}), applied(*full, in, key)) << each.name;
      EXPECT_EQ(applied(*grows, in, key, {7, 10}), applied(*full, in, key)) << each.name;
      between += applied(*grows, in, key, {2, 10}) == applied(*full, in, key) ? 0 : 1;
      changed += applied(*full, in, key) == in ? 0 : 1;
    }
    EXPECT_GT(changed, 8) << each.name;
    EXPECT_GT(between, 4) << each.name << ": half way is as strong as all";
  }
}

TEST(Grow, BlursFromTheLeastWidthOn) {
  const Picture in = noise(24, 24, 3);
  const std::string range = R"("kernel_size": 5, "sigma": [0.1, 3])";
  const auto grows = image_transform("gaussian_blur", "{" + range + R"(, "grow": 4})");
  EXPECT_EQ(applied(*grows, in, 3, {0, 10}), in) << "a width of 0.1 pixels blurs nothing";
  EXPECT_EQ(applied(*grows, in, 3, {4, 10}), applied("gaussian_blur", "{" + range + "}", in, 3));
}

TEST(ImageTransforms, AreFunctionsOfTheirKey) {
  const Picture in = noise(24, 24, 3);
  for (const Growing& each : growing()) {
    const std::string params = "{" + each.params + "}";
    for (uint64_t key = 0; key < 5; ++key) {
      EXPECT_EQ(applied(each.name, params, in, key), applied(each.name, params, in, key)) << each.name;
    }
  }
}

}  // namespace
}  // namespace tenon::test
