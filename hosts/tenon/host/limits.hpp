// --limit and --overfit as settings of the pipeline.
#pragma once

#include <string>
#include <vector>

#include <core/resolve/resolve.hpp>
#include <host/arguments.hpp>

namespace tenon::host {

/// True when the command line has one of them.
[[nodiscard]] bool has_limits(const Arguments& arguments);

/// What they stand for, as arguments of --set. `pipeline` tells the names of its validations: "val" means each of them.
/// \throws UsageError.
[[nodiscard]] std::vector<std::string> limit_sets(const Arguments& arguments, const core::Resolved& pipeline);

}  // namespace tenon::host
