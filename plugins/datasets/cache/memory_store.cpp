// Two threads may make the same record; the second one's is dropped.
#include <cache/memory_store.hpp>

#include <cstring>
#include <utility>

namespace tenon::datasets {

MemoryStore::MemoryStore(int64_t items, int64_t most_bytes)
    : records_(std::make_unique<std::atomic<std::byte*>[]>(static_cast<std::size_t>(items))),
      items_(items),
      most_bytes_(most_bytes) {}

MemoryStore::~MemoryStore() {
  for (int64_t i = 0; i < items_; ++i) {
    const std::unique_ptr<std::byte[]> owned(records_[static_cast<std::size_t>(i)].load());
  }
}

bool MemoryStore::keep(int64_t item, std::span<const std::byte> record) {
  const auto bytes = static_cast<int64_t>(record.size());
  if (bytes_.fetch_add(bytes) + bytes > most_bytes_) {
    bytes_.fetch_sub(bytes);
    return false;
  }
  auto own = std::make_unique<std::byte[]>(record.size());
  if (!record.empty()) std::memcpy(own.get(), record.data(), record.size());
  std::byte* none = nullptr;
  if (records_[static_cast<std::size_t>(item)].compare_exchange_strong(none, own.get(), std::memory_order_acq_rel)) {
    static_cast<void>(own.release());
  } else {
    bytes_.fetch_sub(bytes);
  }
  return true;
}

}  // namespace tenon::datasets
