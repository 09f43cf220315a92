// Reading all items of a dataset on several threads, and handing them on in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <cache/record.hpp>
#include <split/sample_bytes.hpp>
#include <tenon/components/dataset.hpp>

namespace tenon::datasets {

/// Appends the record of an item; `sample` is room that is used again. Of an item that cannot be read nothing is
/// appended, and what is wrong with it comes back. \throws Error (kMemory, kStorage) as try_read(). [any thread]
[[nodiscard]] std::optional<std::string> append_record(const Dataset& input, const RecordLayout& layout, int64_t item,
                                                       SampleBytes& sample, std::vector<std::byte>& to);

/// Takes an item and its record, which is empty where the item cannot be read: then the text says why.
using TakeRecord = std::function<void(int64_t item, std::span<const std::byte> record, const std::string& why)>;

/// Reads every item once. `take` gets all of them in ascending order, on one thread at a time, whatever the number of
/// threads. The first error, in that order, of memory, file handles or `take` ends it. \throws Error.
void read_all(const Dataset& input, const RecordLayout& layout, int64_t threads, const TakeRecord& take);

}  // namespace tenon::datasets
