// Whether the plugins of a pipeline can be opened, found before they are.
#pragma once

#include <string_view>

#include <core/graph/examine_plugins.hpp>
#include <core/plugin/catalogue.hpp>
#include <core/text/diagnostic.hpp>
#include <host/console.hpp>
#include <host/pipeline.hpp>

namespace tenon::host {

using core::Opening;

/// What stands in the way of opening the pipeline's plugins, each finding at the first node that uses the plugin;
/// nothing for a pipeline without a graph. Opens nothing in this process.
/// \throws core::Refusal, Error as core::probe_plugins does.
[[nodiscard]] core::Diagnostics examine_plugins(const Pipeline& pipeline, const core::Catalogue& catalogue,
                                                Opening opening);

/// Before a command opens them: reports what is found and gives the exit code, 0 for going on. `outcome` ends the
/// closing line where there is an error.
[[nodiscard]] int require_usable_plugins(const Pipeline& pipeline, const core::Catalogue& catalogue, Console& console,
                                         std::string_view outcome);

}  // namespace tenon::host
