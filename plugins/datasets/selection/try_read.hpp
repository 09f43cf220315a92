// Reading an item of an input that may be damaged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tenon/components/dataset.hpp>

namespace tenon::datasets {

/// Reads an item: nothing where that went well, else what is wrong with the item, which whoever wants it is to be told
/// when the time comes. \throws Error (kMemory, kStorage) naming the item where the machine has no memory or file
/// handles, which is not the item's fault. [any thread]
[[nodiscard]] std::optional<std::string> try_read(const Dataset& input, int64_t item, Sample& out);

/// What whoever opens a dataset over others should know of such items.
struct UnreadableItems {
  int64_t count = 0;
  int64_t first = -1;
  std::string why;  ///< What is wrong with the first.

  void add(int64_t item, const std::string& reason) {
    if (count++ > 0) return;
    first = item;
    why = reason;
  }

  /// "2 of 100 items cannot be read, the first is item 6 of the input: …". Of a count above 0.
  [[nodiscard]] std::string told(int64_t items) const;
};

}  // namespace tenon::datasets
