// Which fields are images, and along which axes.
#pragma once

#include <cstdint>
#include <optional>

#include <tenon/spec.hpp>

namespace tenon::engine {

/// Where an image's axes lie in a field's shape.
struct ImageLayout {
  std::size_t height = 0;                   ///< Axis.
  std::size_t width = 1;                    ///< Axis.
  std::optional<std::size_t> channel = {};  ///< Axis; nothing for [H, W].
  int64_t channels = 1;
};

/// Whether a field is an image: [H, W, C] or [C, H, W] with 1, 3 or 4 channels, or uint8 [H, W]. Where both ends could
/// count channels, integers are taken for channels last, as decoders give them, and floating numbers for channels
/// first, as models take them.
[[nodiscard]] inline std::optional<ImageLayout> image_layout(const FieldSpec& field) noexcept {
  const auto counts_channels = [&](std::size_t axis) {
    const int64_t size = field.shape[axis].size;
    return size == 1 || size == 3 || size == 4;
  };
  if (field.shape.size() == 2 && field.dtype == Dtype::kUint8) return ImageLayout{};
  if (field.shape.size() != 3) return std::nullopt;
  const bool first = counts_channels(0);
  const bool last = counts_channels(2);
  if (!first && !last) return std::nullopt;
  const bool floating = field.dtype == Dtype::kFloat32 || field.dtype == Dtype::kFloat64;
  if (first && (!last || floating)) return ImageLayout{1, 2, 0, field.shape[0].size};
  return ImageLayout{0, 1, 2, field.shape[2].size};
}

}  // namespace tenon::engine
