// Numbers and durations as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace tenon::observers {

/// Four significant digits, and an exponent only where there is no other way: 0.9917, 12.34, 0.00068, 1.2e-07.
[[nodiscard]] std::string number_text(double value);

/// "4.2 s", "42 s", "3 min 05 s", "2 h 07 min".
[[nodiscard]] std::string duration_text(double seconds);

/// "10/25" with the first number padded to the width of the second.
[[nodiscard]] std::string count_text(int64_t count, int64_t of);

}  // namespace tenon::observers
