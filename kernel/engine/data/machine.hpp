// What the machine gives to this process, as far as loader threads depend on it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace tenon::engine {

/// Cores that this process can keep busy: those of its affinity mask, and no more than its control group's quota
/// rounded up; at least 1.
[[nodiscard]] int usable_cores();

/// The quota of a control group and those above it, in cores; nothing where there is none. `root` is where control
/// groups are mounted, `membership` the content of /proc/self/cgroup (versions 1 and 2).
[[nodiscard]] std::optional<double> cpu_quota(const std::filesystem::path& root, std::string_view membership);

/// The most memory, in bytes, that this process has had resident at one time; 0 where the system does not tell.
[[nodiscard]] int64_t peak_memory();

/// Lowers the calling thread's priority below that of the process's other threads, as far as the system allows.
void give_way() noexcept;

}  // namespace tenon::engine
