// Reading all items of a dataset on several threads, and handing them on in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <cache/record.hpp>
#include <tenon/components/dataset.hpp>

namespace tenon::datasets {

/// Records of some items, one behind the other.
struct RecordRun {
  int64_t first = 0;               ///< Item of the first record.
  std::vector<std::size_t> sizes;  ///< Of the records.
  std::vector<std::byte> bytes;
};

/// Reads every item once. `take` gets all of them in ascending order, on one thread at a time, whatever the number of
/// threads. The first error, in that order, of reading or of `take` ends it. \throws Error naming the item.
void read_all(const Dataset& input, const RecordLayout& layout, int64_t threads,
              const std::function<void(const RecordRun&)>& take);

}  // namespace tenon::datasets
