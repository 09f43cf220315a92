// Operations against what torchvision's transforms v2 and Pillow make of the same image.
#include <cmath>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include <plugins/image_transforms/pictures.hpp>
#include <plugins/support/golden.hpp>

namespace tenon::test {
namespace {

using Json = nlohmann::json;

std::vector<uint8_t> decoded(const std::string& base64) {
  static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<uint8_t> bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char each : base64) {
    if (each == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(digits.find(each));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<uint8_t>(bits >> count & 0xFF));
  }
  return bytes;
}

Picture picture_from(const Json& shape, const std::string& data) {
  Picture picture(shape[0], shape[1], shape[2]);
  picture.bytes = decoded(data);
  return picture;
}

struct Difference {
  int most = 0;
  double mean = 0;
  double share = 0;
};

Difference difference(const Picture& a, const Picture& b) {
  Difference found;
  for (std::size_t i = 0; i < a.bytes.size(); ++i) {
    const int distance = std::abs(a.bytes[i] - b.bytes[i]);
    found.most = std::max(found.most, distance);
    found.mean += distance / static_cast<double>(a.bytes.size());
    if (distance > 0) found.share += 1 / static_cast<double>(a.bytes.size());
  }
  return found;
}

/// The draws of random_perspective, in their order: a key that moves the corners there.
uint64_t key_of(const Json& corners, const Picture& image) {
  const auto most = [](int64_t half) { return static_cast<int64_t>(0.2 * static_cast<double>(half)); };
  const int64_t across = most(image.width / 2);
  const int64_t down = most(image.height / 2);
  for (uint64_t key = 0; key < 1000000; ++key) {
    Rng random(key);
    (void)random.uniform();
    bool same = true;
    for (std::size_t i = 0; i < 4 && same; ++i) {
      const int64_t x = random.integer(0, across);
      const int64_t y = random.integer(0, down);
      same = corners[i][0] == (i == 1 || i == 2 ? image.width - 1 - x : x) &&
             corners[i][1] == (i >= 2 ? image.height - 1 - y : y);
    }
    if (same) return key;
  }
  throw std::runtime_error("no key draws these corners");
}

/// The transforms, and operations of policies, that are compared: none may fall out unseen. Others have a counterpart in
/// torchvision as well, and tests of their own: random_crop, random_erasing, mixup and cutmix, of which nothing is left
/// where nothing is left to chance, and operations of policies that have no strength and are compared elsewhere.
constexpr const char* kCompared =
    "center_crop color_jitter gaussian_blur grayscale pad rand_augment:brightness rand_augment:color "
    "rand_augment:contrast rand_augment:equalize rand_augment:identity rand_augment:posterize rand_augment:rotate "
    "rand_augment:sharpness rand_augment:shear_x rand_augment:shear_y rand_augment:solarize rand_augment:translate_x "
    "rand_augment:translate_y random_affine random_autocontrast random_equalize random_grayscale "
    "random_horizontal_flip random_perspective random_resized_crop random_rotation random_vertical_flip resize "
    "trivial_augment:brightness trivial_augment:color trivial_augment:contrast trivial_augment:posterize "
    "trivial_augment:rotate trivial_augment:sharpness trivial_augment:shear_x trivial_augment:shear_y "
    "trivial_augment:solarize trivial_augment:translate_x trivial_augment:translate_y";

TEST(ImageGolden, EveryOperationIsWithinItsBoundsOfTorchvision) {
  const Json all = golden("images/operations");
  const Picture image = picture_from(all["image"]["shape"], all["image"]["data"]);
  std::set<std::string> checked;
  for (const Json& each : all["cases"]) {
    const std::string name = each["component"].get<std::string>() + ": " + each["name"].get<std::string>();
    const auto transform = image_transform(each["component"], each["params"].dump());
    std::vector<Picture> results;
    for (const Json& data : each["data"]) results.push_back(picture_from(each["shape"], data));
    if (each.contains("itself")) results.push_back(image);
    std::set<std::size_t> seen;
    const uint64_t first = each.contains("corners") ? key_of(each["corners"], image) : 0;
    const uint64_t keys = results.size() > 1 ? 20 : 1;
    for (uint64_t key = first; key < first + keys; ++key) {
      const Picture ours = applied(*transform, image, key);
      // Of two directions and several strengths, those that were drawn.
      std::optional<Difference> best;
      std::size_t which = 0;
      for (std::size_t i = 0; i < results.size(); ++i) {
        ASSERT_EQ(ours.shape(), results[i].shape()) << name;
        const Difference found = difference(ours, results[i]);
        if (best && best->mean <= found.mean) continue;
        best = found;
        which = i;
      }
      seen.insert(which);
      EXPECT_LE(best->most, each["most"].get<int>()) << name;
      EXPECT_LE(best->mean, each["mean"].get<double>()) << name;
      EXPECT_LE(best->share, each["share"].get<double>()) << name;
    }
    EXPECT_EQ(seen.size(), results.size()) << name << ": not all results in " << keys << " tries";
    std::string what = each["component"];
    if (what.ends_with("_augment")) what += ":" + each["params"]["operations"][0].get<std::string>();
    checked.insert(what);
  }
  std::string compared;
  for (const std::string& each : checked) compared += (compared.empty() ? "" : " ") + each;
  EXPECT_EQ(compared, kCompared);
}

}  // namespace
}  // namespace tenon::test
