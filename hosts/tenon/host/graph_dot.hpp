// The wired graph in Graphviz's language.
#pragma once

#include <string>
#include <string_view>

#include <host/graph_view.hpp>

namespace tenon::host {

/// A drawing from left to right: one cluster a plane, colours by kind, types on the edges; "batch" is a node of its own,
/// into which the loader of each path leads. The same graph gives the same text. For dot(1) of Graphviz 2.40 and later.
[[nodiscard]] std::string graph_dot(const GraphView& view);

/// The text as a double-quoted string that labels show as it stands: quotes, backslashes and ampersands are escaped, a
/// line feed breaks the line, other control characters become "?".
[[nodiscard]] std::string dot_quoted(std::string_view text);

}  // namespace tenon::host
