// The callees, each once, in a list that only grows.
#include <core/process/breadcrumb.hpp>

#include <deque>
#include <mutex>
#include <string>

namespace tenon::core {
namespace {

std::mutex mutex;
std::atomic<const Callee*> newest{nullptr};

/// Texts of callees and the callees: they are never given back.
struct Kept {
  std::deque<std::string> texts;
  std::deque<Callee> callees;
};

Kept& kept() {
  static Kept* const all = new Kept;  // outlives every destructor
  return *all;
}

bool is(const Callee& each, std::string_view plugin, std::string_view version, std::string_view path,
        std::string_view component, std::string_view node) {
  return each.node == node && each.component == component && each.plugin == plugin && each.version == version &&
         each.path == path;
}

}  // namespace

const char* const kBackward = "backward";

thread_local constinit Breadcrumb breadcrumb;

/// As in a signal handler the reader comes unasked; each part is read at once, and the writer pays nothing for it.
[[gnu::no_sanitize_thread]] Breadcrumb peek(const Breadcrumb& of_another_thread) noexcept {
  return {__atomic_load_n(&of_another_thread.callee, __ATOMIC_RELAXED),
          __atomic_load_n(&of_another_thread.method, __ATOMIC_RELAXED),
          __atomic_load_n(&of_another_thread.sample, __ATOMIC_RELAXED)};
}

const Callee& callee(std::string_view plugin, std::string_view version, std::string_view path,
                     std::string_view component, std::string_view node) {
  const std::lock_guard lock(mutex);
  for (const Callee* each = newest.load(); each != nullptr; each = each->next) {
    if (is(*each, plugin, version, path, component, node)) return *each;
  }
  Kept& all = kept();
  const auto keep = [&](std::string_view text) { return all.texts.emplace_back(text).c_str(); };
  Callee& fresh = all.callees.emplace_back();
  fresh.plugin = keep(plugin);
  fresh.version = keep(version);
  fresh.path = keep(path);
  fresh.component = keep(component);
  fresh.node = keep(node);
  fresh.next = newest.load();
  newest.store(&fresh, std::memory_order_release);
  return fresh;
}

const Callee* callees() noexcept { return newest.load(std::memory_order_acquire); }

}  // namespace tenon::core
