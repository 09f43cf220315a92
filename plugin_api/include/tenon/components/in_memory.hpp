// Ability of datasets whose items lie in memory: they are read in place, without a copy and without a call a field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tenon {

/// A dataset whose items lie in memory as spec() describes them: contiguous, row-major, of one shape for all items, so
/// every axis of every field is fixed. The engine then copies whole batches at once, or hands the memory to the first
/// transform as it is, and takes threads only where transforms are worth them. Asked for once the dataset is open.
class InMemory {
 public:
  static constexpr const char* kAbility = "tenon.in_memory/1";

  /// Where the fields of item `index` lie, in the order of spec(); `fields` has one element for each. The memory is
  /// constant, and lives as long as the dataset: mapped files count as memory. The bytes are those that read() gives.
  /// After open(), when can_view() is true. Called concurrently from many threads. Does not throw: of an item that turns
  /// out to be damaged it gives nullptr, and read() of that item, which is called then, says why. [loader]
  virtual void view(int64_t index, std::span<const std::byte*> fields) const noexcept = 0;

  /// Whether the parameters and what open() found allow it: false where some field must be converted in read().
  [[nodiscard]] virtual bool can_view() const noexcept { return true; }

 protected:
  ~InMemory() = default;
};

}  // namespace tenon
