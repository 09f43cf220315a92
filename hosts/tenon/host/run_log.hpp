// What two runs' logs have to have in common.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tenon::host {

/// Compares the logs of two run directories line by line: all but times, shares of time, and where the directory lies.
/// `stop`: a step at which one of them was stopped and resumed; what only tells of that (run_start, run_end and a
/// checkpoint of that step) is left out on both sides, and messages, which a stop divides, are left out at every step.
/// Gives the first difference, as both lines, or nothing. \throws Error (kStorage) for a log that cannot be read.
[[nodiscard]] std::optional<std::string> compare_logs(const std::filesystem::path& one,
                                                      const std::filesystem::path& other,
                                                      std::optional<int64_t> stop = std::nullopt);

}  // namespace tenon::host
