// Numbers and JSON, digit by digit.
#include <core/process/crash_text.hpp>

#include <array>

namespace tenon::core {
namespace {

/// Bytes of the character at the front, 0 where it is no UTF-8 (RFC 3629; overlong forms pass, as paths have none).
std::size_t length_of(std::string_view text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) return 0;
  }
  return length;
}

bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

}  // namespace

CrashText& CrashText::operator<<(std::string_view text) noexcept {
  for (const char c : text) put(c);
  return *this;
}

CrashText& CrashText::operator<<(int64_t number) noexcept { return digits(number, 1); }

CrashText& CrashText::digits(int64_t number, int least) noexcept {
  std::array<char, 20> reversed{};
  std::size_t used = 0;
  if (number < 0) put('-');
  auto rest = number < 0 ? uint64_t{0} - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
  do {
    reversed[used++] = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest > 0);
  for (auto missing = static_cast<std::size_t>(least); missing > used; --missing) put('0');
  while (used > 0) put(reversed[--used]);
  return *this;
}

CrashText& CrashText::hex(uintptr_t number) noexcept {
  *this << "0x";
  bool begun = false;
  for (int shift = static_cast<int>(sizeof(number) * 8) - 4; shift >= 0; shift -= 4) {
    const auto digit = (number >> static_cast<unsigned>(shift)) & 0xFU;
    begun = begun || digit != 0 || shift == 0;
    if (begun) put("0123456789abcdef"[digit]);
  }
  return *this;
}

CrashText& CrashText::plain(std::string_view text) noexcept {
  for (const char c : text) put(is_control(c) ? ' ' : c);
  return *this;
}

CrashText& CrashText::json(std::string_view text) noexcept {
  put('"');
  while (!text.empty()) {
    const std::size_t length = length_of(text);
    const char first = text.front();
    if (length == 0) {
      put('?');
    } else if (first == '"' || first == '\\') {
      put('\\');
      put(first);
    } else if (first == '\n') {
      *this << "\\n";
    } else if (is_control(first)) {
      put(' ');
    } else {
      *this << text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  put('"');
  return *this;
}

}  // namespace tenon::core
