// Ranks that are threads of one test, and metrics over them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <tenon/components/distributed.hpp>
#include <tenon/components/metric.hpp>
#include <tenon/harness/components.hpp>

namespace tenon::harness {

/// Calls `work` on `world` threads at once, each with the collectives of its rank. All collectives are there; a rank
/// that throws lets the others throw Error (kDistributed) where they wait. Rethrows what the lowest rank that failed by
/// itself threw.
void on_ranks(int64_t world, const std::function<void(Collectives& ranks)>& work);

/// The values over these batches, on one rank: reset, one update a batch, compute.
[[nodiscard]] std::vector<double> values_of(Metric& metric, const std::vector<Tensors>& batches);

/// The values over these batches when they are dealt to `world` ranks in turn, each with a metric from `make`. They must
/// be the same on all ranks, bit by bit. \throws Error (kPlugin) when they are not.
[[nodiscard]] std::vector<double> values_over_ranks(int64_t world, const std::function<Made<Metric>()>& make,
                                                    const std::vector<Tensors>& batches);

}  // namespace tenon::harness
