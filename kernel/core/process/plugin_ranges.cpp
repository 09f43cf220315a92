// A table that only grows: entries are whole before they are counted.
#include <core/process/plugin_ranges.hpp>

#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

namespace tenon::core {
namespace {

struct Range {
  const Callee* plugin = nullptr;
  uintptr_t begin = 0;
  uintptr_t end = 0;

  [[nodiscard]] bool holds(uintptr_t address) const noexcept { return begin <= address && address < end; }
};

std::mutex mutex;
std::array<Range, 512> ranges;
std::atomic<std::size_t> count{0};

struct Search {
  uintptr_t inside;
  Range found;
};

/// The whole of an object's segments, if one of them holds the address.
int look_at(dl_phdr_info* object, std::size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  Range whole{nullptr, UINTPTR_MAX, 0};
  bool holds = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const Range part{nullptr, object->dlpi_addr + segment.p_vaddr,
                     object->dlpi_addr + segment.p_vaddr + segment.p_memsz};
    whole.begin = std::min(whole.begin, part.begin);
    whole.end = std::max(whole.end, part.end);
    holds = holds || part.holds(search.inside);
  }
  if (holds) search.found = whole;
  return holds ? 1 : 0;
}

}  // namespace

void note_plugin(const Callee& plugin, const void* inside) {
  const auto address = reinterpret_cast<uintptr_t>(inside);
  Search search{address, {}};
  if (dl_iterate_phdr(&look_at, &search) == 0) return;
  search.found.plugin = &plugin;
  const std::lock_guard lock(mutex);
  const std::size_t used = count.load(std::memory_order_relaxed);
  if (used == ranges.size() || plugin_at(address) != nullptr) return;
  ranges[used] = search.found;
  count.store(used + 1, std::memory_order_release);
}

const Callee* plugin_at(uintptr_t address) noexcept {
  const std::size_t used = count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < used; ++i) {
    if (ranges[i].holds(address)) return ranges[i].plugin;
  }
  return nullptr;
}

}  // namespace tenon::core
