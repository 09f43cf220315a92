// Applies --set path=json.
#pragma once

#include <string>
#include <vector>

#include <core/resolve/tree.hpp>
#include <core/text/diagnostic.hpp>

namespace tenon::core {

/// Sets one value in the merged tree, or reports why it cannot be set; adds the variables to which it refers to
/// `references`. The value's origin is the argument, as a Source named "--set".
void apply_set(Tree& root, const std::string& argument, std::vector<std::string>& references, Diagnostics& diagnostics);

}  // namespace tenon::core
