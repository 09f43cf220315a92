// Alignment and reuse of memory.
#include <engine/data/memory.hpp>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <engine/data/batch.hpp>
#include <tenon/fingerprint.hpp>

namespace tenon::engine {
namespace {

bool aligned(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory) % 64 == 0; }

TEST(HostMemory, IsAlignedAndNeverNull) {
  for (const std::size_t bytes : std::initializer_list<std::size_t>{0, 1, 63, 64, 100000}) {
    const std::shared_ptr<void> memory = host_memory(bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_TRUE(aligned(memory.get()));
    std::memset(memory.get(), 1, bytes);
  }
}

TEST(HostMemory, RefusesWhatNoMachineHas) {
  EXPECT_THROW((void)host_memory(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
  if (std::string_view(TENON_SANITIZER) == "none") {  // the others end the process
    EXPECT_THROW((void)host_memory(std::numeric_limits<std::size_t>::max() / 2), std::bad_alloc);
  }
}

/// Memory that counts itself, and runs out.
struct Counted {
  std::size_t live = 0;
  int taken = 0;
  bool empty = false;

  std::shared_ptr<void> take(std::size_t bytes) {
    if (empty) throw std::bad_alloc();
    ++taken;
    live += bytes;
    const std::shared_ptr<void> memory = host_memory(bytes);
    return {memory.get(), [this, bytes, memory](void*) { live -= bytes; }};
  }
};

TEST(PreferredMemory, IsTakenAsLongAsThereIsSomeAndThenTheOtherWithOneWarning) {
  Counted pinned;
  std::vector<std::string> warnings;
  const Allocator allocate = preferring([&](std::size_t bytes) { return pinned.take(bytes); }, 10000,
                                        [&](const std::string& why) { warnings.push_back(why); });
  std::vector<std::shared_ptr<void>> kept{allocate(1000)};
  EXPECT_EQ(pinned.taken, 1);
  EXPECT_TRUE(warnings.empty());
  pinned.empty = true;
  for (int i = 0; i < 3; ++i) {
    kept.push_back(allocate(1000));
    std::memset(kept.back().get(), i, 1000);
    EXPECT_TRUE(aligned(kept.back().get()));
  }
  EXPECT_EQ(warnings, std::vector<std::string>{"std::bad_alloc"});
  pinned.empty = false;
  kept.push_back(allocate(1000));
  EXPECT_EQ(pinned.live, 2000U) << "there is some again";
  kept.clear();
  EXPECT_EQ(pinned.live, 0U);
}

TEST(PreferredMemory, IsNeverMoreThanTheBound) {
  Counted pinned;
  std::vector<std::string> warnings;
  const Allocator allocate = preferring([&](std::size_t bytes) { return pinned.take(bytes); }, 2500,
                                        [&](const std::string& why) { warnings.push_back(why); });
  std::vector<std::shared_ptr<void>> kept;
  for (int i = 0; i < 5; ++i) kept.push_back(allocate(1000));
  EXPECT_EQ(pinned.live, 2000U);
  EXPECT_EQ(warnings, std::vector<std::string>{"1000 bytes more than the 2500 that are allowed"});
  kept.clear();
  kept.push_back(allocate(2500));
  EXPECT_EQ(pinned.live, 2500U) << "what came back may be taken again";
}

TEST(PreferredMemory, OutlivesItsAllocator) {
  Counted pinned;
  std::shared_ptr<void> memory;
  {
    const Allocator allocate = preferring([&](std::size_t bytes) { return pinned.take(bytes); }, 1000, {});
    memory = allocate(1000);
    EXPECT_NE(allocate(1), nullptr) << "nobody needs to be warned";
  }
  std::memset(memory.get(), 1, 1000);
  memory.reset();
  EXPECT_EQ(pinned.live, 0U);
}

TEST(Arena, PiecesAreAlignedAndDoNotOverlap) {
  Arena arena;
  for (int round = 0; round < 3; ++round) {
    arena.reset();
    std::vector<std::pair<unsigned char*, std::size_t>> pieces;
    for (std::size_t bytes = 0; bytes < 20000; bytes = bytes * 3 + 1) {
      auto* piece = static_cast<unsigned char*>(arena.allocate(bytes));
      EXPECT_TRUE(aligned(piece));
      std::memset(piece, static_cast<int>(pieces.size()), bytes);
      pieces.emplace_back(piece, bytes);
    }
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      for (std::size_t byte = 0; byte < pieces[i].second; ++byte) {
        ASSERT_EQ(pieces[i].first[byte], i);
      }
    }
  }
}

TEST(Arena, IsOneBlockAfterTheFirstRound) {
  Arena arena;
  std::set<void*> seen;
  for (int round = 0; round < 10; ++round) {
    arena.reset();
    for (int piece = 0; piece < 8; ++piece) {
      void* memory = arena.allocate(3000);
      if (round == 1) {
        seen.insert(memory);
      } else if (round > 1) {
        EXPECT_TRUE(seen.contains(memory));
      }
    }
  }
}

TEST(SlotPool, ReusesWhatCameBack) {
  int allocations = 0;
  const auto pool = std::make_shared<SlotPool>(1, [&](std::size_t bytes) {
    ++allocations;
    return host_memory(bytes);
  });
  void* first = nullptr;
  for (int i = 0; i < 5; ++i) {
    const std::shared_ptr<BatchSlot> slot = pool->acquire();
    void* memory = slot->reserve(0, 1000);
    first = first == nullptr ? memory : first;
    EXPECT_EQ(memory, first);
    EXPECT_EQ(slot->reserve(0, 10), first);
  }
  EXPECT_EQ(allocations, 1);
  const std::shared_ptr<BatchSlot> one = pool->acquire();
  const std::shared_ptr<BatchSlot> two = pool->acquire();
  EXPECT_NE(one->reserve(0, 1000), two->reserve(0, 1000));
  EXPECT_EQ(allocations, 2);
}

TEST(SlotPool, ASlotOutlivesThePoolsOwner) {
  auto pool = std::make_shared<SlotPool>(1, host_memory);
  const std::weak_ptr<SlotPool> watched = pool;
  std::shared_ptr<BatchSlot> slot = pool->acquire();
  pool.reset();
  std::memset(slot->reserve(0, 100), 1, 100);
  slot.reset();
  EXPECT_TRUE(watched.expired());
}

TEST(SlotPool, FailsAgainAndAgainWithoutDamageWhenMemoryRunsOut) {
  bool empty = true;
  const auto pool = std::make_shared<SlotPool>(
      1, [&](std::size_t bytes) { return empty ? throw std::bad_alloc() : host_memory(bytes); });
  const std::shared_ptr<BatchSlot> slot = pool->acquire();
  EXPECT_THROW(slot->reserve(0, 10), std::bad_alloc);
  EXPECT_THROW(slot->reserve(0, 10), std::bad_alloc);
  empty = false;
  EXPECT_NE(slot->reserve(0, 10), nullptr);
}

}  // namespace
}  // namespace tenon::engine
