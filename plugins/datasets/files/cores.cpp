// By the affinity mask, since a machine's cores need not be the process's.
#include <files/cores.hpp>

#include <sched.h>

#include <algorithm>
#include <thread>

namespace tenon::datasets {

int64_t usable_cores() noexcept {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  // A machine of more than 1,024 cores has no room in this mask.
  const bool known = ::sched_getaffinity(0, sizeof(mask), &mask) == 0;
  return std::max<int64_t>(1, known ? CPU_COUNT(&mask) : static_cast<int64_t>(std::thread::hardware_concurrency()));
}

}  // namespace tenon::datasets
