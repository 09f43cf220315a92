// Reading all items of a dataset on several threads, and handing them on in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <cache/record.hpp>
#include <split/sample_bytes.hpp>
#include <tenon/components/dataset.hpp>

namespace tenon::datasets {

/// Appends the record of an item; `sample` is room that is used again. \throws Error naming the item. [any thread]
void append_record(const Dataset& input, const RecordLayout& layout, int64_t item, SampleBytes& sample,
                   std::vector<std::byte>& to);

/// Takes an item and its record.
using TakeRecord = std::function<void(int64_t, std::span<const std::byte>)>;

/// Reads every item once. `take` gets all of them in ascending order, on one thread at a time, whatever the number of
/// threads. The first error, in that order, of reading or of `take` ends it. \throws Error naming the item.
void read_all(const Dataset& input, const RecordLayout& layout, int64_t threads, const TakeRecord& take);

}  // namespace tenon::datasets
