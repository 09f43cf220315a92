// Runs tenon-conformance, which opens and tries a plugin in a process of its own, and takes its results.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <core/json/json.hpp>

namespace tenon::host {

/// Calls `take` with each line of JSON that the program says, as it comes. `arguments` are the program's.
/// \throws Refusal ("no-libtorch", "libtorch-version") without the libtorch of this Tenon; Error (kPlugin) when the
/// program is missing or does not end well, with what it said; as core::run_child when it cannot be started.
void run_conformance(const std::vector<std::string>& arguments, const std::function<void(const core::Json&)>& take);

}  // namespace tenon::host
