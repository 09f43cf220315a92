// Orders of the epochs of a path's loader, and what of its parameters concerns every reading of its data.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <core/plugin/builtin.hpp>
#include <engine/components.hpp>
#include <engine/data/sampler.hpp>

namespace tenon::engine {

/// How the dataset is read where a sampler or buckets need to know what its index does not.
struct SamplingOptions {
  bool tolerate = false;                           ///< As ScanOptions::tolerate.
  std::function<void()> poll = {};                 ///< Called now and then; what it throws breaks off and comes out.
  std::function<void(const std::string&)> remark;  ///< Told how long that took; may be empty.
};

/// The orders of a path's loader; nothing where each sample comes once, as `shuffle` says. The dataset is open, and is
/// read once on all cores where that is needed. Threads that do not come back from an item are given up, and with them
/// the dataset. \throws Error: kConfig with the pointer of a loader's parameter, kData; DataError. [trainer]
[[nodiscard]] std::shared_ptr<const Sampler> make_sampler(const Components& components, const core::Path& path,
                                                          uint64_t seed, const SamplingOptions& options);

/// The parameters of a path's loader; for "predict" without those of the order, as each sample has its row.
[[nodiscard]] core::LoaderParams loader_params(const core::Graph& graph, const core::Path& path);

/// The longest that a sample may take; 0: no limit.
[[nodiscard]] std::chrono::nanoseconds sample_timeout(const core::LoaderParams& params);

/// Called first on each thread that makes samples: they work side by side, and none within a sample.
void take_one_core();

}  // namespace tenon::engine
