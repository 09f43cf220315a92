// What samplers and buckets need to know of all items of a dataset: from its index, or by reading everything once.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <engine/data/sampler.hpp>
#include <engine/data/stream.hpp>
#include <tenon/components/columns.hpp>

namespace tenon::engine {

/// How items are read that no index knows.
struct ScanOptions {
  int threads = 1;                        ///< At least one, beside the caller's, which waits.
  bool tolerate = false;                  ///< An item that cannot be read has weight 0, no class, length 0.
  std::function<void()> on_thread_start;  ///< As LoaderOptions::on_thread_start.
  std::function<void()> poll;             ///< Called now and then; what it throws breaks off and comes out.
  /// Told once, when fields had to be read: "read all 50000 samples of … once for …", for people.
  std::function<void(const std::string&)> remark;
  std::chrono::nanoseconds sample_timeout{0};  ///< The longest that an item may take; 0: no limit.

  /// Keeps the dataset's stream alive. With it threads that do not come back from an item within half a second of the
  /// end are given up; they hold on to it. Without it the end waits for them.
  std::shared_ptr<const void> keep = {};
  std::function<void()> give_up = {};  ///< Called when threads were: what the stream reads must not be destroyed.
};

/// The columns that the options name. `dataset` is a stream of the dataset alone, which is open; `index` its ability,
/// or null. A field is read once, whatever for. \throws Error: kConfig with the parameter's pointer for a field that
/// there is not, or whose values are none of the sort; DataError of the first item that cannot be read, or of one that
/// takes too long; kPlugin for columns of another size. [trainer]
[[nodiscard]] OrderColumns order_columns(const Stream& dataset, const Columns* index, const OrderOptions& options,
                                         const ScanOptions& scan);

}  // namespace tenon::engine
