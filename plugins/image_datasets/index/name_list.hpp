// Many names in little memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::image_datasets {

/// Names in one block: eight bytes each, besides their own. Reading is safe on many threads.
class NameList {
 public:
  /// At most 65,535 bytes.
  void add(std::string_view name);

  [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }
  [[nodiscard]] bool empty() const noexcept { return places_.empty(); }
  [[nodiscard]] std::string_view operator[](std::size_t index) const noexcept;

  /// Sorts the names from `first` on by their bytes.
  void sort_from(std::size_t first);

  /// Gives back memory that was taken for further names.
  void shrink();

  /// Bytes that it holds.
  [[nodiscard]] std::size_t memory() const noexcept;

  /// A hash of all names in their order.
  [[nodiscard]] uint64_t hash() const noexcept;

 private:
  std::string bytes_;
  std::vector<uint64_t> places_;  // where a name begins, times 2^16, and its length
};

}  // namespace tenon::image_datasets
