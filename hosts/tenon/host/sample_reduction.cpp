// Means over squares of pixels.
#include <host/sample_reduction.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include <host/sample_text.hpp>
#include <host/sheet_roles.hpp>

namespace tenon::host {
namespace {

using engine::ImageLayout;
using engine::ShownValue;

constexpr int64_t kSheet = 1600;         // pixels of a sheet's width, about
constexpr std::size_t kMostText = 4096;  // bytes
constexpr std::size_t kMostNumbers = 64;

/// An image's memory: elements from one row, column and channel to the next.
struct Steps {
  int64_t row = 0;
  int64_t column = 0;
  int64_t channel = 0;

  Steps(const Shape& shape, const ImageLayout& layout) {
    const auto behind = [&](std::size_t axis) {
      int64_t count = 1;
      for (std::size_t i = axis + 1; i < shape.size(); ++i) count *= shape[i];
      return count;
    };
    row = behind(layout.height);
    column = behind(layout.width);
    if (layout.channel) channel = behind(*layout.channel);
  }
};

template <class T>
T mean_of(const T* values, const Steps& steps, int64_t height, int64_t width) {
  if constexpr (std::is_same_v<T, uint8_t> || std::is_floating_point_v<T>) {
    double sum = 0;
    for (int64_t y = 0; y < height; ++y) {
      for (int64_t x = 0; x < width; ++x) sum += static_cast<double>(values[y * steps.row + x * steps.column]);
    }
    const double mean = sum / static_cast<double>(height * width);
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(mean);
    return static_cast<T>(std::lround(mean));
  } else {
    return values[height / 2 * steps.row + width / 2 * steps.column];
  }
}

/// Each `factor` times `factor` pixels become one.
template <class T>
void shrink(ShownValue& value, const ImageLayout& layout, int64_t factor, bool means) {
  const int64_t height = value.shape[layout.height];
  const int64_t width = value.shape[layout.width];
  Shape smaller = value.shape;
  smaller[layout.height] = (height + factor - 1) / factor;
  smaller[layout.width] = (width + factor - 1) / factor;
  const Steps from(value.shape, layout);
  const Steps to(smaller, layout);
  const auto* const in = reinterpret_cast<const T*>(value.bytes.data());
  std::vector<std::byte> bytes(static_cast<std::size_t>(elements(smaller)) * sizeof(T));
  auto* const out = reinterpret_cast<T*>(bytes.data());
  for (int64_t y = 0; y < smaller[layout.height]; ++y) {
    const int64_t rows = std::min(factor, height - y * factor);
    for (int64_t x = 0; x < smaller[layout.width]; ++x) {
      const int64_t columns = std::min(factor, width - x * factor);
      for (int64_t c = 0; c < layout.channels; ++c) {
        const T* const block = in + y * factor * from.row + x * factor * from.column + c * from.channel;
        out[y * to.row + x * to.column + c * to.channel] =
            means ? mean_of(block, from, rows, columns) : block[rows / 2 * from.row + columns / 2 * from.column];
      }
    }
  }
  value.bytes = std::move(bytes);
  value.shape = std::move(smaller);
}

void shrink(ShownValue& value, Dtype dtype, const ImageLayout& layout, int64_t factor, bool means) {
  if (dtype == Dtype::kUint8) return shrink<uint8_t>(value, layout, factor, means);
  if (dtype == Dtype::kFloat32) return shrink<float>(value, layout, factor, means);
  if (dtype == Dtype::kFloat64) return shrink<double>(value, layout, factor, means);
  switch (size_of(dtype)) {
    case 1: return shrink<int8_t>(value, layout, factor, false);
    case 2: return shrink<int16_t>(value, layout, factor, false);
    case 4: return shrink<int32_t>(value, layout, factor, false);
    default: return shrink<int64_t>(value, layout, factor, false);
  }
}

/// Corners in the pixels of another size.
void scale_boxes(ShownValue& value, double across, double down) {
  for (std::size_t i = 0; i * sizeof(float) < value.bytes.size(); ++i) {
    float corner = 0;
    std::memcpy(&corner, value.bytes.data() + i * sizeof corner, sizeof corner);
    corner = static_cast<float>(corner * (i % 2 == 0 ? across : down));
    std::memcpy(value.bytes.data() + i * sizeof corner, &corner, sizeof corner);
  }
}

/// The shape stays that of the whole.
void keep_beginning(const FieldSpec& field, ShownValue& value) {
  const std::size_t most = is_text(field) ? kMostText : kMostNumbers * size_of(field.dtype);
  if (value.bytes.size() <= most) return;
  value.bytes.resize(most);
  value.bytes.shrink_to_fit();
}

}  // namespace

// Twice what a sheet of so many tiles draws them in, which makes them smaller again, and evenly.
SampleReduction::SampleReduction(int64_t tiles)
    : side_(2 * std::clamp<int64_t>(kSheet / static_cast<int64_t>(std::ceil(
                                                 std::sqrt(static_cast<double>(std::max<int64_t>(tiles, 1))))),
                                    96, 224)) {}

void SampleReduction::operator()(const std::vector<engine::ShownField>& fields, engine::ShownSample& sample) const {
  if (sample.values.empty()) return;
  const std::optional<SheetRoles> roles = sheet_roles(fields);
  std::vector<bool> whole(fields.size());
  if (roles) {
    const ImageLayout& layout = roles->layout;
    const Shape size = sample.values[roles->image].shape;
    const int64_t height = size[layout.height];
    const int64_t width = size[layout.width];
    const int64_t factor = (std::max(height, width) + side_ - 1) / side_;
    const bool shrinks = factor > 1 && elements(size) > 0;
    if (shrinks) shrink(sample.values[roles->image], fields[roles->image].field.dtype, layout, factor, true);
    whole[roles->image] = true;
    for (const std::size_t i : roles->masks) {
      ShownValue& mask = sample.values[i];
      if (mask.shape != Shape{height, width}) continue;
      if (shrinks) shrink(mask, fields[i].field.dtype, {}, factor, false);
      whole[i] = true;
    }
    for (const std::size_t i : roles->boxes) {
      const Shape& now = sample.values[roles->image].shape;
      if (shrinks) {
        scale_boxes(sample.values[i], static_cast<double>(now[layout.width]) / static_cast<double>(width),
                    static_cast<double>(now[layout.height]) / static_cast<double>(height));
      }
      whole[i] = true;
    }
    for (const std::size_t i : roles->box_classes) whole[i] = true;
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!whole[i]) keep_beginning(fields[i].field, sample.values[i]);
  }
}

}  // namespace tenon::host
