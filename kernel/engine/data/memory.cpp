// Aligned host memory and the arena over it.
#include <engine/data/memory.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

namespace tenon::engine {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kSmallestBlock = 4096;

std::size_t aligned(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() - kAlignment) {
    throw std::bad_alloc();
  }
  return (std::max<std::size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

std::shared_ptr<void> host_memory(std::size_t bytes) {
  void* memory = std::aligned_alloc(kAlignment, aligned(bytes));
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return {memory, std::free};
}

void* Arena::allocate(std::size_t bytes) {
  const std::size_t size = aligned(bytes);
  if (blocks_.empty() || blocks_.back().size - used_ < size) {
    const std::size_t block = std::max({size, kSmallestBlock, blocks_.empty() ? 0 : blocks_.back().size});
    blocks_.push_back({host_memory(block), block});
    used_ = 0;
  }
  void* memory = static_cast<std::byte*>(blocks_.back().memory.get()) + used_;
  used_ += size;
  return memory;
}

void Arena::reset() {
  if (blocks_.size() > 1) {
    std::size_t total = 0;
    for (const Block& block : blocks_) {
      total += block.size;
    }
    blocks_.clear();
    blocks_.push_back({host_memory(total), total});
  }
  used_ = 0;
}

}  // namespace tenon::engine
