// crash.json of a run directory: read by those that go on with the run, or look at it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace tenon::core {

/// How the last attempt at a run ended when it crashed, as its report told it; nothing when it did not, or when the
/// report cannot be read.
[[nodiscard]] std::optional<std::string> read_crash(const std::filesystem::path& run);

/// Keeps the report as crash-1.json, crash-2.json, … when another attempt begins. Nothing without one. The run is
/// locked. \throws Error (kStorage).
void set_crash_aside(const std::filesystem::path& run);

}  // namespace tenon::core
