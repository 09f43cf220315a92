// Records in memory, each put there by whoever is first.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace tenon::datasets {

/// All of it is safe on many threads. A record that is there stays as it is for as long as the store lives.
class MemoryStore {
 public:
  MemoryStore(int64_t items, int64_t most_bytes);
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;
  ~MemoryStore();

  /// The record of an item, or nullptr.
  [[nodiscard]] const std::byte* find(int64_t item) const noexcept {
    return records_[static_cast<std::size_t>(item)].load(std::memory_order_acquire);
  }

  /// Keeps a copy; false when the store is full.
  bool keep(int64_t item, std::span<const std::byte> record);

 private:
  std::unique_ptr<std::atomic<std::byte*>[]> records_;
  int64_t items_;
  int64_t most_bytes_;
  std::atomic<int64_t> bytes_{0};
};

}  // namespace tenon::datasets
