// What samplers and buckets need to know of all items of a dataset: from its index, or by reading everything once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <engine/data/sampler.hpp>
#include <engine/data/stream.hpp>
#include <tenon/components/columns.hpp>

namespace tenon::engine {

/// How items are read that no index knows.
struct ScanOptions {
  int threads = 0;                        ///< 0: on the caller's
  bool tolerate = false;                  ///< An item that cannot be read has weight 0, no class, length 0.
  std::function<void()> on_thread_start;  ///< As LoaderOptions::on_thread_start.
  std::function<void()> poll;             ///< Called now and then; what it throws breaks off and comes out.
  /// Told once for each field that had to be read: "read all 50000 samples of …", for people.
  std::function<void(const std::string&)> remark;
};

/// The columns that the options name. `dataset` is a stream of the dataset alone, which is open; `index` its ability, or
/// null. A field is read once, whatever for. \throws Error: kConfig with the parameter's pointer for a field that there is
/// not, or whose values are none of the sort; DataError of the first item that cannot be read; kPlugin for columns of
/// another size. [trainer]
[[nodiscard]] OrderColumns order_columns(const Stream& dataset, const Columns* index, const OrderOptions& options,
                                         const ScanOptions& scan);

}  // namespace tenon::engine
