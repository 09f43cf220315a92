// How many threads are of use.
#pragma once

#include <cstdint>

namespace tenon::datasets {

/// The cores that this thread may run on, as taskset and containers bound them; at least 1.
[[nodiscard]] int64_t usable_cores() noexcept;

}  // namespace tenon::datasets
