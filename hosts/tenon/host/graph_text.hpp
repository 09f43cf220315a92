// The wired graph as a page for people in a terminal.
#pragma once

#include <string>

#include <host/console.hpp>
#include <host/graph_view.hpp>

namespace tenon::host {

/// Data plane, step plane and what is attached, one node a line with what it takes and gives, and the settings of the
/// run, one line each. Nodes of a plane are in blocks by the paths that run them.
[[nodiscard]] std::string graph_page(const GraphView& view, const Console& console);

}  // namespace tenon::host
