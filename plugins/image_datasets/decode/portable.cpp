// Numbers between blanks and comments, or binary ones behind such a header (https://netpbm.sourceforge.net/doc/).
#include <decode/portable.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

[[noreturn]] void fail_damaged() {
  throw Error(ErrorCode::kData, "is cut off or damaged: its header of PBM, PGM or PPM tells no size");
}

/// Numbers in decimal digits, one after the other.
class Digits {
 public:
  Digits(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  /// The number that comes next; of `most` digits at most. Nothing at the end or for another character.
  std::optional<uint32_t> next(std::size_t most) {
    constexpr uint32_t kLargest = uint32_t{1} << 20U;
    skip();
    uint32_t value = 0;
    const std::size_t begin = at_;
    for (; at_ < text_.size() && at_ - begin < most && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      value = value * 10 + static_cast<uint32_t>(text_[at_] - '0');
      if (value > kLargest) return std::nullopt;
    }
    return at_ == begin ? std::nullopt : std::optional(value);
  }

  [[nodiscard]] std::size_t place() const noexcept { return at_; }

 private:
  void skip() noexcept {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size() - 1);
      } else if (std::string_view(" \t\r\n\v\f").find(text_[at_]) == std::string_view::npos) {
        return;
      }
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_;
};

struct Head {
  char kind = '\0';  // '1' to '6'
  std::size_t width = 0;
  std::size_t height = 0;
  uint32_t largest = 1;
  std::size_t begin = 0;  // of the pixels

  [[nodiscard]] bool bits() const noexcept { return kind == '1' || kind == '4'; }
  [[nodiscard]] bool binary() const noexcept { return kind >= '4'; }
  [[nodiscard]] std::size_t channels() const noexcept { return kind == '3' || kind == '6' ? 3 : 1; }
  [[nodiscard]] std::size_t row_values() const noexcept { return width * channels(); }

  /// Bytes of all pixels, or the fewest that digits and the blanks between them can have.
  [[nodiscard]] std::size_t least_bytes() const noexcept {
    if (kind == '1') return width * height;
    if (kind == '4') return (width + 7) / 8 * height;
    return binary() ? row_values() * height * (largest > 255 ? 2 : 1) : 2 * row_values() * height - 1;
  }
};

Head head_of(Bytes file) {
  constexpr std::size_t kDigits = 8;
  Digits digits(text_of(file), 2);
  const auto number = [&] {
    const auto value = digits.next(kDigits);
    if (!value || *value == 0) fail_damaged();
    return *value;
  };
  Head head;
  head.kind = std::to_integer<char>(file[1]);
  head.width = number();
  head.height = number();
  if (!head.bits()) head.largest = number();
  if (head.largest > 65535) fail_damaged();
  head.begin = digits.place() + 1;
  if (head.begin + head.least_bytes() > file.size()) {
    throw Error(ErrorCode::kData, "is cut off: " + std::to_string(head.width) + " x " + std::to_string(head.height) +
                                      " pixels take " + std::to_string(head.begin + head.least_bytes()) +
                                      " bytes with the header" + (head.binary() ? "" : " at least") + ", and it has " +
                                      std::to_string(file.size()));
  }
  return head;
}

/// Calls put(value) for each value in its order, as it is stored.
template <class Put>
void each_value(Bytes file, const Head& head, const Put& put) {
  const Bytes pixels = file.subspan(head.begin);
  const std::size_t count = head.row_values() * head.height;
  if (head.kind == '4') {
    const std::size_t row = (head.width + 7) / 8;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t x = i % head.width;
      const auto byte = std::to_integer<uint32_t>(pixels[i / head.width * row + x / 8]);
      put(1U - (byte >> (7U - x % 8) & 1U));
    }
  } else if (head.binary()) {
    const std::size_t bytes = head.largest > 255 ? 2 : 1;
    for (std::size_t i = 0; i < count; ++i) put(big_endian(pixels, i * bytes, bytes));
  } else {
    Digits digits(text_of(file), head.begin);
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = digits.next(head.bits() ? 1 : 5);
      if (!value || *value > head.largest) {
        throw Error(ErrorCode::kData, "is cut off or damaged: no number from 0 to " + std::to_string(head.largest) +
                                          " at byte " + std::to_string(digits.place()));
      }
      put(head.bits() ? 1U - *value : *value);
    }
  }
}

template <class Value>
std::shared_ptr<const void> values_of(Bytes file, const Head& head, bool stored) {
  constexpr double kWhite = sizeof(Value) == 1 ? 255 : 65535;
  std::vector<Value> scaled;
  for (uint32_t i = 0; !stored && i <= head.largest; ++i) {
    scaled.push_back(static_cast<Value>(std::nearbyint(static_cast<double>(i) / head.largest * kWhite)));
  }
  auto values = std::make_shared<std::vector<Value>>();
  values->reserve(head.row_values() * head.height);
  each_value(file, head, [&](uint32_t value) {
    values->push_back(stored ? static_cast<Value>(value) : scaled[std::min(value, head.largest)]);
  });
  return {values, values->data()};
}

}  // namespace

RasterHeader portable_header(Bytes file) {
  const Head head = head_of(file);
  return {{static_cast<int64_t>(head.height), static_cast<int64_t>(head.width)}, {}};
}

Raster read_portable(Bytes file, bool stored) {
  const Head head = head_of(file);
  Raster raster;
  raster.pixels.wide = head.largest > 255;
  raster.pixels.row_values = head.row_values();
  raster.pixels.channels = static_cast<int>(head.channels());
  raster.pixels.extent = {static_cast<int64_t>(head.height), static_cast<int64_t>(head.width)};
  const bool as_they_are = head.kind >= '5' && (head.largest == 255 || (stored && !raster.pixels.wide));
  if (!as_they_are) {
    raster.memory = raster.pixels.wide ? values_of<uint16_t>(file, head, stored || head.largest == 65535)
                                       : values_of<uint8_t>(file, head, stored);
  }
  raster.pixels.data = as_they_are ? file.data() + head.begin : raster.memory.get();
  return raster;
}

}  // namespace tenon::image_datasets
