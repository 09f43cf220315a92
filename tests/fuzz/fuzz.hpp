// What fuzz targets share: a claim that does not hold ends the process, so that libFuzzer keeps the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

/// What libFuzzer calls with each input. Returns 0.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size);

namespace tenon::fuzz {

/// The claim does not hold: says so, with what is known, and aborts.
[[noreturn]] inline void broken(std::string_view claim, std::string_view detail = {}) {
  std::fprintf(stderr, "broken claim: %.*s\n%.*s\n", static_cast<int>(claim.size()), claim.data(),
               static_cast<int>(detail.size()), detail.data());
  std::abort();
}

inline void claim(bool holds, std::string_view text, std::string_view detail = {}) {
  if (!holds) broken(text, detail);
}

[[nodiscard]] inline std::string_view as_text(const uint8_t* data, std::size_t size) noexcept {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace tenon::fuzz
