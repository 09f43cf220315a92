// By the affinity mask and by quotas, since a machine's cores need not be the process's.
#include <files/cores.hpp>

#include <sched.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <string_view>
#include <thread>

namespace tenon::datasets {
namespace {

int64_t affine_cores() noexcept {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  // A machine of more than 1,024 cores has no room in this mask.
  const bool known = ::sched_getaffinity(0, sizeof(mask), &mask) == 0;
  return std::max<int64_t>(1, known ? CPU_COUNT(&mask) : static_cast<int64_t>(std::thread::hardware_concurrency()));
}

/// The name of the process's group; empty where it has none of version 2.
std::string own_group() {
  constexpr std::string_view kVersion2 = "0::";
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kVersion2)) return line.substr(kVersion2.size());
  }
  return {};
}

}  // namespace

std::optional<int64_t> cores_of_quota(const std::filesystem::path& root, const std::string& group) {
  std::optional<int64_t> least;
  for (std::filesystem::path each = group;; each = each.parent_path()) {
    int64_t quota = 0;  // "max" is no number
    int64_t period = 0;
    std::ifstream file(root / each.relative_path() / "cpu.max");
    if (file >> quota >> period && quota > 0 && period > 0) {
      const int64_t cores = (quota - 1) / period + 1;
      least = std::min(cores, least.value_or(cores));
    }
    if (!each.has_relative_path()) return least;
  }
}

int64_t usable_cores() noexcept {
  const int64_t cores = affine_cores();
  try {
    const std::string group = own_group();
    if (group.empty()) return cores;
    return std::min(cores, cores_of_quota("/sys/fs/cgroup", group).value_or(cores));
  } catch (const std::exception&) {  // no memory for the names
    return cores;
  }
}

}  // namespace tenon::datasets
