// One loop for all conversions.
#include <decode/pixels.hpp>

#include <string>
#include <type_traits>

#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

template <class Out, class In>
Out scaled(In value) noexcept {
  if constexpr (std::is_same_v<Out, uint8_t>) {
    return static_cast<Out>(sizeof(In) == 2 ? value >> 8U : value);
  } else {
    return static_cast<Out>(sizeof(In) == 2 ? value : value * 257U);
  }
}

/// Pillow's weights for convert("L"), those of ITU-R BT.601 times 2^16.
template <class Out>
Out grey_of(Out red, Out green, Out blue) noexcept {
  const uint32_t sum =
      static_cast<uint32_t>(red) * 19595U + static_cast<uint32_t>(green) * 38470U + static_cast<uint32_t>(blue) * 7471U;
  return static_cast<Out>((sum + 0x8000U) >> 16U);
}

template <class Out, class In, Color color>
void convert(const Pixels& from, const Walk<In>& walk, const Region& region, Out* to) noexcept {
  const bool grey = from.channels < 3;
  const int red = grey ? 0 : (from.bgr ? 2 : 0);
  const int green = grey ? 0 : 1;
  const int blue = grey ? 0 : (from.bgr ? 0 : 2);
  const int alpha = from.channels % 2 == 0 ? from.channels - 1 : -1;
  for (int64_t y = 0; y < region.height; ++y) {
    const In* pixel = walk.first + y * walk.to_next_row;
    for (int64_t x = 0; x < region.width; ++x, pixel += walk.to_next_column) {
      const auto r = scaled<Out>(pixel[red]);
      const auto g = scaled<Out>(pixel[green]);
      const auto b = scaled<Out>(pixel[blue]);
      if constexpr (color == Color::kGrey) {
        *to++ = grey_of<Out>(r, g, b);
      } else {
        *to++ = r;
        *to++ = g;
        *to++ = b;
        if constexpr (color == Color::kRgba) *to++ = alpha < 0 ? scaled<Out>(uint8_t{255}) : scaled<Out>(pixel[alpha]);
      }
    }
  }
}

template <class Out, class In>
void convert(const Pixels& from, const Turn& turn, const Region& region, Color color, Out* to) noexcept {
  const Walk<In> way = walk<In>(from, turn, region);
  switch (color) {
    case Color::kRgb: return convert<Out, In, Color::kRgb>(from, way, region, to);
    case Color::kGrey: return convert<Out, In, Color::kGrey>(from, way, region, to);
    case Color::kRgba: return convert<Out, In, Color::kRgba>(from, way, region, to);
  }
}

template <class Out>
void convert(const Pixels& from, const Turn& turn, const Region& region, Color color, Out* to) noexcept {
  if (from.wide) {
    convert<Out, uint16_t>(from, turn, region, color, to);
  } else {
    convert<Out, uint8_t>(from, turn, region, color, to);
  }
}

std::string size_text(int64_t height, int64_t width) { return std::to_string(width) + " x " + std::to_string(height); }

}  // namespace

void deliver(const Pixels& from, const Turn& turn, const Region& region, const DecodeOptions& options, void* to) {
  if (options.bits == 16) {
    convert(from, turn, region, options.color, static_cast<int32_t*>(to));
  } else {
    convert(from, turn, region, options.color, static_cast<uint8_t*>(to));
  }
}

void require_within(const Region& region, const Extent& whole) {
  const auto fits = [](int64_t begin, int64_t size, int64_t limit) {
    return begin >= 0 && size > 0 && size <= limit && begin <= limit - size;
  };
  if (fits(region.top, region.height, whole.height) && fits(region.left, region.width, whole.width)) return;
  throw Error(ErrorCode::kData, "a region of " + size_text(region.height, region.width) + " pixels at (" +
                                    std::to_string(region.left) + ", " + std::to_string(region.top) +
                                    ") does not lie within an image of " + size_text(whole.height, whole.width));
}

std::byte* Scratch::take(std::size_t bytes) {
  if (bytes > size_) {
    memory_.reset();
    size_ = 0;
    memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    size_ = bytes;
  }
  return memory_.get();
}

void Scratch::settle() noexcept {
  constexpr std::size_t kKept = std::size_t{32} << 20U;
  if (size_ <= kKept) return;
  memory_.reset();
  size_ = 0;
}

}  // namespace tenon::image_datasets
