// The way to libtorch and the engine, without touching what belongs to the program.
#pragma once

#include <core/graph/graph.hpp>
#include <core/plugin/catalogue.hpp>
#include <core/plugin/runtime.hpp>
#include <core/resolve/resolve.hpp>
#include <engine/engine.hpp>
#include <tenon/kernel/runtime.hpp>

namespace tenon::kernel {

struct OpenedEngine {
  core::Runtime runtime;
  engine::Engine* engine;  ///< Lives as long as the process.
};

/// Opens the engine for a pipeline whose plugins were looked at before. \throws Error, and what core throws, where a
/// plugin cannot be opened, or a variable of the environment is not as libtorch must find it and may not be set.
[[nodiscard]] OpenedEngine open_engine(const core::Graph& graph, const core::Resolved& resolved,
                                       const core::Catalogue& catalogue, const RuntimeOptions& options);

}  // namespace tenon::kernel
