// The headers of PBM, PGM and PPM (https://netpbm.sourceforge.net/doc/): numbers between blanks and comments.
#include <decode/headers.hpp>

#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

[[noreturn]] void fail_damaged() {
  throw Error(ErrorCode::kData, "is cut off or damaged: its header of PBM, PGM or PPM tells no size");
}

/// Numbers of the header, one after the other.
class Header {
 public:
  explicit Header(std::string_view text) : text_(text) {}

  uint64_t number() {
    skip();
    uint64_t value = 0;
    const std::size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      value = value * 10 + static_cast<uint64_t>(text_[at_] - '0');
      if (value > kLargest) fail_damaged();
    }
    if (at_ == begin) fail_damaged();
    return value;
  }

  [[nodiscard]] std::size_t place() const noexcept { return at_; }

 private:
  static constexpr uint64_t kLargest = uint64_t{1} << 20U;

  void skip() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        at_ = text_.find('\n', at_);
        if (at_ == std::string_view::npos) fail_damaged();
      } else if (std::string_view(" \t\r\n").find(text_[at_]) == std::string_view::npos) {
        return;
      }
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 2;
};

}  // namespace

RasterHeader portable_header(Bytes file) {
  const char kind = std::to_integer<char>(file[1]);
  const bool bits = kind == '1' || kind == '4';
  Header header(text_of(file));
  const uint64_t width = header.number();
  const uint64_t height = header.number();
  const uint64_t largest = bits ? 1 : header.number();
  if (width == 0 || height == 0 || largest == 0 || largest > 65535) fail_damaged();
  if (kind >= '4') {
    const uint64_t channels = kind == '6' ? 3 : 1;
    const uint64_t row = bits ? (width + 7) / 8 : width * channels * (largest > 255 ? 2 : 1);
    const uint64_t end = header.place() + 1 + row * height;
    if (end > file.size()) {
      throw Error(ErrorCode::kData, "is cut off: " + std::to_string(width) + " x " + std::to_string(height) +
                                        " pixels take " + std::to_string(end) + " bytes with the header, and it has " +
                                        std::to_string(file.size()));
    }
  }
  return {{static_cast<int64_t>(height), static_cast<int64_t>(width)}, {}};
}

}  // namespace tenon::image_datasets
