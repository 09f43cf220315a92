// Text that a signal handler can write: into memory that is there, without allocation or locale.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tenon::core {

/// Appends to a buffer; what does not fit is left out. Safe in a signal handler.
class CrashText {
 public:
  explicit CrashText(std::span<char> buffer) noexcept : buffer_(buffer) {}

  CrashText& operator<<(std::string_view text) noexcept;
  CrashText& operator<<(char c) noexcept {
    put(c);
    return *this;
  }
  CrashText& operator<<(int64_t number) noexcept;
  CrashText& operator<<(int number) noexcept { return *this << int64_t{number}; }

  /// "0x7f00dead"
  CrashText& hex(uintptr_t number) noexcept;

  /// `number` with at least that many digits.
  CrashText& digits(int64_t number, int least) noexcept;

  /// On one line: control characters become blanks.
  CrashText& plain(std::string_view text) noexcept;

  /// As a JSON string, quotes included; what is not UTF-8 becomes "?".
  CrashText& json(std::string_view text) noexcept;

  [[nodiscard]] std::string_view text() const noexcept { return {buffer_.data(), size_}; }

 private:
  void put(char c) noexcept {
    if (size_ < buffer_.size()) buffer_[size_++] = c;
  }

  std::span<char> buffer_;
  std::size_t size_ = 0;
};

}  // namespace tenon::core
