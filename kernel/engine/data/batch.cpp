// Slots and their return.
#include <engine/data/batch.hpp>

namespace tenon::engine {

void* BatchSlot::reserve(std::size_t field, std::size_t bytes) {
  Block& block = blocks_[field];
  if (block.memory == nullptr || block.size < bytes) {
    block = {};  // first, so that old and new need not fit into memory together
    block.memory = allocate_(bytes);
    block.size = bytes;
  }
  return block.memory.get();
}

std::shared_ptr<BatchSlot> SlotPool::acquire() {
  std::unique_ptr<BatchSlot> slot;
  {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      free_.reserve(made_ + 1);  // so that give_back never allocates
      slot = std::make_unique<BatchSlot>(fields_, allocate_);
      ++made_;
    } else {
      slot = std::move(free_.back());
      free_.pop_back();
    }
  }
  return {slot.release(), [pool = weak_from_this()](BatchSlot* used) {
            std::unique_ptr<BatchSlot> owned(used);
            if (const std::shared_ptr<SlotPool> home = pool.lock()) {
              home->give_back(std::move(owned));
            }
          }};
}

void SlotPool::give_back(std::unique_ptr<BatchSlot> slot) noexcept {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(slot));
}

}  // namespace tenon::engine
