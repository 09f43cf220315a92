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

TEST(RandAugment, DrawsAllOperationsAlike) {
  Picture in = noise(40, 40, 3);
  for (uint8_t& byte : in.bytes) byte = static_cast<uint8_t>(40 + byte / 2);
  const std::vector<std::string> names{"rotate", "brightness", "posterize", "solarize"};
  const auto transform = image_transform(
      "rand_augment", R"({"num_ops": 1, "operations": ["rotate", "brightness", "posterize", "solarize"]})");
  std::map<std::string, int> seen;
  for (uint64_t key = 0; key < 400; ++key) {
    const Picture out = applied(*transform, in, key);
    for (const std::string& name : names) {
      // Either direction.
      bool found = false;
      for (uint64_t other = 0; other < 8 && !found; ++other) {
        found = out == applied("rand_augment", R"({"num_ops": 1, "operations": [")" + name + "\"]}", in, other);
      }
      if (found) ++seen[name];
    }
    if (key == 60) break;  // each try compares many images
  }
  EXPECT_EQ(seen.size(), names.size());
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
