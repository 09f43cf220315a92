// The wired graph for programs.
#pragma once

#include <core/json/json.hpp>
#include <host/graph_view.hpp>

namespace tenon::host {

/// {"pipeline", "nodes", "edges", "paths"}. A field is {"name", "dtype", "shape"}; an axis is a size, the name of a symbol,
/// or "?".
[[nodiscard]] core::Json graph_json(const GraphView& view);

}  // namespace tenon::host
