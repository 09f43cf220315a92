// Checking UTF-8, ASCII eight bytes at a time.
#include <csv/utf8.hpp>

#include <cstdint>
#include <cstring>

namespace tenon::datasets {
namespace {

/// Length of the well-formed sequence at the start of `text`, which is not empty; 0 where it is not.
std::size_t sequence_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  const unsigned lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < lowest || byte(1) > highest) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return length;
}

}  // namespace

std::size_t find_no_utf8(std::string_view text) noexcept {
  constexpr uint64_t kHighBits = 0x8080808080808080U;
  std::size_t at = 0;
  while (at < text.size()) {
    uint64_t word = kHighBits;
    if (text.size() - at >= sizeof(word)) std::memcpy(&word, text.data() + at, sizeof(word));
    if ((word & kHighBits) == 0) {
      at += sizeof(word);
      continue;
    }
    const std::size_t length = sequence_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

}  // namespace tenon::datasets
