// Whether the plugins of a pipeline can be opened, found before they are.
#pragma once

#include <core/graph/graph.hpp>
#include <core/plugin/catalogue.hpp>
#include <core/resolve/resolve.hpp>
#include <core/text/diagnostic.hpp>

namespace tenon::core {

/// How far the examination goes.
enum class Opening {
  kNone,  ///< The plugins' files are read, no more.
  kSoon,  ///< Those that were never opened before are first opened in a child process.
};

/// What stands in the way of opening the pipeline's plugins, each finding at the first node that uses the plugin. Opens
/// nothing in this process. \throws Refusal, Error as probe_plugins does.
[[nodiscard]] Diagnostics examine_plugins(const Graph& graph, const Resolved& resolved, const Catalogue& catalogue,
                                          Opening opening);

}  // namespace tenon::core
