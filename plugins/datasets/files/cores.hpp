// How many threads are of use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tenon::datasets {

/// The cores that this thread may run on, as taskset and cpusets of containers bound them, or fewer where a quota of
/// processor time (version 2 of control groups, as `--cpus` of containers sets it) does not fill them; at least 1.
[[nodiscard]] int64_t usable_cores() noexcept;

/// Cores by the quotas of a control group and of those above it, rounded up; nothing where there are none. `root` is where
/// control groups are mounted, `group` the name below it, such as "/a/b".
[[nodiscard]] std::optional<int64_t> cores_of_quota(const std::filesystem::path& root, const std::string& group);

}  // namespace tenon::datasets
