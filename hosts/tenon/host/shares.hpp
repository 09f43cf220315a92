// How many samples of a batch each rank gets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <core/graph/graph.hpp>
#include <core/json/json.hpp>
#include <core/resolve/resolve.hpp>
#include <core/text/diagnostic.hpp>
#include <host/console.hpp>

namespace tenon::host {

/// A loader's batch over `world` ranks, each of which takes a contiguous part; sizes differ by one at most.
struct Share {
  std::string node;
  int64_t batch = 0;  ///< Samples of a micro-batch over all ranks.
  int64_t least = 0;  ///< Samples of the ranks with the smallest part.
  int64_t most = 0;
};

/// Of every loader that tells its batch, by its parameter "batch": samples over all ranks, or {"per_rank": n}.
[[nodiscard]] std::vector<Share> shares_of(const core::Graph& graph, int64_t world);

/// A warning for each loader whose ranks get unequal parts, an error where one would get none, at the batch's place.
[[nodiscard]] core::Diagnostics judge(const std::vector<Share>& shares, int64_t world, const core::Graph& graph,
                                      const core::Resolved& resolved);

/// "train  64 samples a micro-batch, 16 on each of 4 ranks", one line a loader.
[[nodiscard]] std::string shares_text(const std::vector<Share>& shares, int64_t world, const Console& console);

/// {"size", "loaders": [{"node", "batch", "least", "most"}]}
[[nodiscard]] core::Json shares_json(const std::vector<Share>& shares, int64_t world);

}  // namespace tenon::host
