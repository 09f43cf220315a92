// Host memory of the data engine: where it comes from, and per-thread scratch that is reused from sample to sample.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tenon::engine {

/// Gives `bytes` (0 too) of memory for one field of a batch, aligned to 64 bytes; throws when there is none. The last
/// owner frees it, on any thread. The engine may hand out pinned or tensor memory here. [any thread]
using Allocator = std::function<std::shared_ptr<void>(std::size_t bytes)>;

/// Plain host memory, aligned to 64 bytes. \throws std::bad_alloc
[[nodiscard]] std::shared_ptr<void> host_memory(std::size_t bytes);

/// Memory from `preferred` as long as it has some, and no more than `most` bytes of it are in use; else plain host
/// memory. `warn` is told once, in words for people, when there is no more of the preferred: with its error, or that
/// `most` are in use. It is called on whichever thread comes upon it. [any thread]
[[nodiscard]] Allocator preferring(Allocator preferred, std::size_t most, std::function<void(const std::string&)> warn);

/// Scratch memory for one sample at a time. After the first samples it asks the system for nothing. One thread.
class Arena {
 public:
  /// Memory aligned to 64 bytes, valid until reset(). \throws std::bad_alloc
  [[nodiscard]] void* allocate(std::size_t bytes);

  /// Takes all memory back; what was scattered over several blocks becomes one block.
  void reset();

 private:
  struct Block {
    std::shared_ptr<void> memory;
    std::size_t size = 0;
  };

  std::vector<Block> blocks_;
  std::size_t used_ = 0;  // of the last block
};

}  // namespace tenon::engine
