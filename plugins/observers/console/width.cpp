// Width of characters by ranges of code points.
#include <console/width.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace tenon::observers {
namespace {

using Range = std::pair<uint32_t, uint32_t>;

constexpr std::array<Range, 16> kWide{{{0x1100, 0x115F},
                                       {0x231A, 0x231B},
                                       {0x2E80, 0x303E},
                                       {0x3041, 0x4DBF},
                                       {0x4E00, 0xA4CF},
                                       {0xA960, 0xA97C},
                                       {0xAC00, 0xD7A3},
                                       {0xF900, 0xFAFF},
                                       {0xFE30, 0xFE6F},
                                       {0xFF00, 0xFF60},
                                       {0xFFE0, 0xFFE6},
                                       {0x1F300, 0x1F64F},
                                       {0x1F680, 0x1F6FF},
                                       {0x1F900, 0x1F9FF},
                                       {0x1FA70, 0x1FAFF},
                                       {0x20000, 0x3FFFD}}};
constexpr std::array<Range, 6> kWithoutWidth{
    {{0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF}}};

template <std::size_t N>
bool holds(const std::array<Range, N>& ranges, uint32_t point) noexcept {
  return std::any_of(ranges.begin(), ranges.end(),
                     [point](const Range& range) { return range.first <= point && point <= range.second; });
}

/// The first character of a text that is not empty.
struct Character {
  std::size_t bytes = 1;
  std::size_t columns = 1;
};

Character first_of(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  const uint32_t lead = byte(0);
  const std::size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (length == 1 || length > text.size()) return {};
  uint32_t point = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    point = point << 6U | (byte(i) & 0x3FU);
  }
  return {length, holds(kWithoutWidth, point) ? 0U : holds(kWide, point) ? 2U : 1U};
}

}  // namespace

std::size_t columns_of(std::string_view text) noexcept {
  std::size_t columns = 0;
  while (!text.empty()) {
    const Character first = first_of(text);
    columns += first.columns;
    text.remove_prefix(first.bytes);
  }
  return columns;
}

std::string_view cut(std::string_view text, std::size_t columns) noexcept {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const Character first = first_of(text.substr(bytes));
    if (first.columns > columns) break;
    columns -= first.columns;
    bytes += first.bytes;
  }
  return text.substr(0, bytes);
}

}  // namespace tenon::observers
