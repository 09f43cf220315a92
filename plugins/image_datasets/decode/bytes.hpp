// Numbers within the bytes of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tenon::image_datasets {

using Bytes = std::span<const std::byte>;

/// A whole number of `count` bytes, highest first; `bytes` has as many at `at`.
[[nodiscard]] inline uint32_t big_endian(Bytes bytes, std::size_t at, std::size_t count) noexcept {
  uint32_t number = 0;
  for (std::size_t i = 0; i < count; ++i) number = number << 8U | std::to_integer<uint32_t>(bytes[at + i]);
  return number;
}

/// Likewise, lowest first.
[[nodiscard]] inline uint32_t little_endian(Bytes bytes, std::size_t at, std::size_t count) noexcept {
  uint32_t number = 0;
  for (std::size_t i = count; i-- > 0;) number = number << 8U | std::to_integer<uint32_t>(bytes[at + i]);
  return number;
}

[[nodiscard]] inline std::string_view text_of(Bytes bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// True when these characters stand at that place.
[[nodiscard]] inline bool has(Bytes bytes, std::size_t at, std::string_view characters) noexcept {
  return at <= bytes.size() && text_of(bytes.subspan(at)).starts_with(characters);
}

}  // namespace tenon::image_datasets
