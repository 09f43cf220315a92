// Images for the tests of image transforms, and what components make of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <plugins/support/plugin.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/harness/memory_sample.hpp>

namespace tenon::test {

/// Bytes [height, width, channels].
struct Picture {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 1;
  std::vector<uint8_t> bytes;

  Picture() = default;
  Picture(int64_t rows, int64_t columns, int64_t depth)
      : height(rows), width(columns), channels(depth), bytes(static_cast<std::size_t>(rows * columns * depth)) {}

  uint8_t& at(int64_t y, int64_t x, int64_t c = 0) {
    return bytes[static_cast<std::size_t>((y * width + x) * channels + c)];
  }
  [[nodiscard]] uint8_t at(int64_t y, int64_t x, int64_t c = 0) const {
    return bytes[static_cast<std::size_t>((y * width + x) * channels + c)];
  }
  [[nodiscard]] Shape shape() const { return {height, width, channels}; }
  friend bool operator==(const Picture&, const Picture&) = default;
};

/// One channel of a picture.
[[nodiscard]] inline Picture channel_of(const Picture& picture, int64_t channel) {
  Picture out(picture.height, picture.width, 1);
  for (int64_t y = 0; y < picture.height; ++y) {
    for (int64_t x = 0; x < picture.width; ++x) out.at(y, x) = picture.at(y, x, channel);
  }
  return out;
}

/// Random bytes.
[[nodiscard]] inline Picture noise(int64_t height, int64_t width, int64_t channels, uint64_t key = 1) {
  Picture picture(height, width, channels);
  Rng random(key);
  for (uint8_t& byte : picture.bytes) byte = static_cast<uint8_t>(random.bits() & 0xFF);
  return picture;
}

[[nodiscard]] inline Made<Transform> image_transform(const std::string& name, const std::string& params = "{}") {
  return make<Transform>("tenon_image_transforms", name, params);
}

/// Parameters of a transform to that size; `more` begins with a comma.
[[nodiscard]] inline std::string size(int64_t height, int64_t width, const std::string& more = "") {
  return R"({"height": )" + std::to_string(height) + R"(, "width": )" + std::to_string(width) + more + "}";
}

/// A sample with the field "image".
[[nodiscard]] inline MemorySample sample_of(const Picture& picture) {
  MemorySample sample;
  sample.set<uint8_t>("image", picture.shape(), picture.bytes);
  return sample;
}

[[nodiscard]] inline Picture picture_of(const Array& array) {
  Picture picture(array.shape[0], array.shape[1], array.shape.size() > 2 ? array.shape[2] : 1);
  const std::span<const uint8_t> bytes = array.as<uint8_t>();
  std::copy(bytes.begin(), bytes.end(), picture.bytes.begin());
  return picture;
}

/// A field as it is behind the stage: written, or as it was.
[[nodiscard]] inline Array after(const MemorySample& sample, const std::string& field) {
  return sample.wrote(field) ? sample.written_array(field) : sample.at(field);
}

/// What the transform makes of an image alone.
[[nodiscard]] inline Picture applied(const Transform& transform, const Picture& picture, uint64_t key = 0,
                                     const When& when = {}) {
  MemorySample sample = sample_of(picture);
  Rng random(key);
  transform.apply(sample, random, when);
  return picture_of(after(sample, "image"));
}

[[nodiscard]] inline Picture applied(const std::string& name, const std::string& params, const Picture& picture,
                                     uint64_t key = 0, const When& when = {}) {
  return applied(*image_transform(name, params), picture, key, when);
}

}  // namespace tenon::test
