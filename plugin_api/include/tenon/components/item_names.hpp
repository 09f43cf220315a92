// Ability of datasets whose items have names that a person can look for: files, mostly.
#pragma once

#include <cstdint>
#include <string>

namespace tenon {

/// A dataset that can tell where an item comes from, so that an error in a transform behind it, or a read that never
/// ends, is told with the file and not only with a number.
class ItemNames {
 public:
  static constexpr const char* kAbility = "tenon.item_names/1";

  /// What item `index` is called: the file it lies in, with a line or place in it where there are several; empty where
  /// there is nothing to tell. Reads no data and waits for nothing, as the item may be the one whose read hangs. After
  /// open(), 0 ≤ `index` < size(). Called concurrently with read(), from any thread. [loader, trainer]
  [[nodiscard]] virtual std::string item_name(int64_t index) const = 0;

 protected:
  ~ItemNames() = default;
};

}  // namespace tenon
