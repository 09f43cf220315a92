// Puts the values of `vars` in the place of "${vars.x}".
#pragma once

#include <span>
#include <string>
#include <vector>

#include <core/resolve/tree.hpp>
#include <core/text/diagnostic.hpp>

namespace tenon::core {

/// Most values to which all references of a pipeline may expand.
inline constexpr std::size_t kMostExpandedValues = 1'000'000;

/// Adds the names of all variables to which the strings of a tree refer.
void collect_references(const Tree& tree, std::vector<std::string>& names);

/// Replaces the references in the whole tree but `vars` itself. A string that is one reference takes the variable's value
/// and type; within a longer string a scalar becomes text. A value whose reference cannot be resolved is taken out, so
/// that later checks say nothing more about it. `referenced` holds every name that some layer refers to: a variable
/// outside it is unused. Reports unknown-variable, bad-reference, nested-variable, reserved and unused-variable (warning).
void substitute_variables(Tree& root, std::span<const std::string> referenced, Diagnostics& diagnostics);

}  // namespace tenon::core
