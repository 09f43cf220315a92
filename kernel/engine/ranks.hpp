// Ranks that are threads of this process.
#pragma once

#include <cstdint>
#include <functional>

#include <core/graph/graph.hpp>
#include <core/plugin/catalogue.hpp>
#include <core/resolve/resolve.hpp>
#include <tenon/components/distributed.hpp>

namespace tenon::engine {

/// Runs `body` once for every rank: rank 0 on the calling thread, the others on threads of their own, and waits for all.
/// What the first of them to fail throws comes out; the others are woken by InProcess::abandon and what they throw then
/// is dropped. [trainer]
void run_ranks(InProcess& team, const std::function<void(int64_t rank)>& body);

/// Where the pipeline names an in-process backend: makes each rank's body, one after the other, and runs them side by
/// side as run_ranks does; each is destroyed on the calling thread. False, and nothing happens, where it names none.
/// \throws PlacedError.
[[nodiscard]] bool run_in_process(const core::Graph& graph, const core::Resolved& resolved,
                                  const core::Catalogue& catalogue,
                                  const std::function<std::function<void()>(int64_t rank, Collectives& ranks)>& make);

}  // namespace tenon::engine
