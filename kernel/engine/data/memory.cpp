// Aligned host memory and the arena over it.
#include <engine/data/memory.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <limits>
#include <new>
#include <utility>

#include <fmt/format.h>

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

// Shared by an allocator's copies and by the memory that came from it.
struct Preferred {
  Allocator allocate;
  std::size_t most;
  std::function<void(const std::string&)> warn;
  std::atomic<std::size_t> used{0};
  std::atomic<bool> warned{false};

  void tell(const std::string& why) {
    if (!warned.exchange(true) && warn) warn(why);
  }

  // Nothing where there is no more of it.
  static std::shared_ptr<void> take(const std::shared_ptr<Preferred>& self, std::size_t bytes) {
    if (self->used.fetch_add(bytes) + bytes > self->most) {
      self->used.fetch_sub(bytes);
      self->tell(fmt::format("{} bytes more than the {} that are allowed", bytes, self->most));
      return nullptr;
    }
    try {
      const std::shared_ptr<void> memory = self->allocate(bytes);
      return {memory.get(), [self, bytes, memory](void*) { self->used.fetch_sub(bytes); }};
    } catch (const std::exception& error) {
      self->used.fetch_sub(bytes);
      self->tell(error.what());
      return nullptr;
    }
  }
};

}  // namespace

Allocator preferring(Allocator preferred, std::size_t most, std::function<void(const std::string&)> warn) {
  const auto shared = std::make_shared<Preferred>();
  shared->allocate = std::move(preferred);
  shared->most = most;
  shared->warn = std::move(warn);
  return [shared](std::size_t bytes) {
    std::shared_ptr<void> memory = Preferred::take(shared, bytes);
    return memory != nullptr ? memory : host_memory(bytes);
  };
}

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
