// Lays one layer of a pipeline over those before it.
#pragma once

#include <string>
#include <string_view>

#include <core/resolve/tree.hpp>
#include <core/text/diagnostic.hpp>

namespace tenon::core {

/// What a null that deletes nothing is.
enum class StrayNull { kError, kWarning };

/// Lays `layer` over `base`: objects merge, everything else replaces, null deletes. A node (a member of "/nodes"), or a
/// component among its parameters, whose `use` changes loses the base's `with` and `groups` first. A null in a list is
/// an error.
void merge_layer(Tree& base, Tree layer, StrayNull stray, Diagnostics& diagnostics);

/// Whether the object at `pointer` is a node, or stands among a node's parameters and so may be a component too.
[[nodiscard]] bool may_hold_component(std::string_view pointer) noexcept;

/// Takes every null out of a tree that lies at `pointer` and reports each, for what nothing lies below.
void remove_nulls(Tree& tree, const std::string& pointer, StrayNull stray, Diagnostics& diagnostics);

/// An error or a warning at the place of a tree's value.
[[nodiscard]] Diagnostic diagnostic_at(const Tree& tree, std::string_view pointer, std::string code,
                                       std::string message);

}  // namespace tenon::core
