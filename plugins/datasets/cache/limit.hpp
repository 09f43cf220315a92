// How much the items of a cache may take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace tenon::datasets {

class CacheLimit {
 public:
  /// `item_bytes`: of each item, where all are of one size.
  CacheLimit(int64_t most_bytes, int64_t items, std::optional<std::size_t> item_bytes)
      : most_bytes_(most_bytes), items_(items), item_bytes_(item_bytes) {}

  [[nodiscard]] int64_t bytes() const noexcept { return most_bytes_; }

  /// "all 100 items take 3.12 KiB, more than "limit": 1 KiB", where that is known.
  [[nodiscard]] std::optional<std::string> shortage() const;

  /// \throws Error (kData) where all items are known to find no room.
  void require_room() const;

  /// \throws Error (kData): that many of them take more.
  [[noreturn]] void refuse_first(int64_t items) const;

 private:
  [[nodiscard]] std::optional<std::string> needed() const;
  [[noreturn]] void refuse(const std::string& what) const;
  [[nodiscard]] std::string shown() const;

  int64_t most_bytes_;
  int64_t items_;
  std::optional<std::size_t> item_bytes_;
};

}  // namespace tenon::datasets
