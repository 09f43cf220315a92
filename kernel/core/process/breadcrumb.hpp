// What a thread is doing in a plugin at this moment: left before each call, read when it crashes.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace tenon::core {

/// A component as crash reports name it, or a plugin as a whole. It and its texts live as long as the process, since a
/// crash may come behind everything else.
struct Callee {
  const char* plugin = "";     ///< Its id.
  const char* version = "";    ///< Of the plugin.
  const char* path = "";       ///< The plugin's file.
  const char* component = "";  ///< "dataset:digits"; empty while the plugin itself is opened.
  const char* node = "";       ///< "train_set", "stop/0"; empty for what the kernel makes on its own.
  const Callee* next = nullptr;
  mutable std::atomic<int> living = 0;  ///< Components of it that there are.

  /// A thread is in one of them and does not come back, so that none may be destroyed.
  mutable std::atomic<bool> given_up = false;
};

/// The one object for these texts, made when they are first asked for. [any thread]
[[nodiscard]] const Callee& callee(std::string_view plugin, std::string_view version, std::string_view path,
                                   std::string_view component = {}, std::string_view node = {});

/// The newest of all; `next` leads to the others. Safe in a signal handler.
[[nodiscard]] const Callee* callees() noexcept;

/// The call of this thread that is under way.
struct Breadcrumb {
  const Callee* callee = nullptr;  ///< nullptr: none.
  const char* method = nullptr;    ///< "read"; a literal.
  int64_t sample = -1;             ///< Index in the dataset, or -1.
};

/// In libtorch's hands, not in one component's: whose code runs is known from the stack alone.
extern const char* const kBackward;

/// Fixed offset from the thread pointer: the library is opened with the program, and a signal handler may read it.
extern thread_local constinit Breadcrumb breadcrumb [[gnu::tls_model("initial-exec")]];

/// What another thread's breadcrumb says at this moment: for telling of a thread that does not come back. Its parts may be
/// of different calls when that thread goes on meanwhile.
[[nodiscard]] Breadcrumb peek(const Breadcrumb& of_another_thread) noexcept;

/// While it lives, this thread is in that method. They nest. A few stores, without atomics. [any thread]
class Entered {
 public:
  /// `method` is a literal.
  Entered(const Callee* callee, const char* method, int64_t sample = -1) noexcept : before_(breadcrumb) {
    breadcrumb = {callee, method, sample};
    std::atomic_signal_fence(std::memory_order_seq_cst);  // or the compiler sees that nobody reads it
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  ~Entered() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    breadcrumb = before_;
  }

 private:
  Breadcrumb before_;
};

}  // namespace tenon::core
