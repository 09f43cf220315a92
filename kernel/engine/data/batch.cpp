// Slots and their return.
#include <engine/data/batch.hpp>

#include <algorithm>

namespace tenon::engine {

void* BatchSlot::reserve(std::size_t field, std::size_t bytes) {
  Block& block = blocks_[field];
  if (block.memory == nullptr || block.size < bytes) {
    // Padded fields differ from batch to batch: with some room they settle soon.
    const std::size_t size = std::max(bytes, block.size + block.size / 4);
    block = {};  // first, so that old and new need not fit into memory together
    block.memory = allocate_(size);
    block.size = size;
  }
  return block.memory.get();
}

void* BatchSlot::scratch(std::size_t bytes) {
  void* const memory = scratch_.allocate(bytes);
  scratch_now_ += bytes;
  scratch_most_ = std::max(scratch_most_, scratch_now_);
  return memory;
}

void BatchSlot::clear_scratch() {
  scratch_.reset();
  scratch_now_ = 0;
}

std::size_t BatchSlot::bytes() const noexcept {
  std::size_t sum = scratch_most_;
  for (const Block& block : blocks_) {
    sum += block.size;
  }
  return sum;
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
