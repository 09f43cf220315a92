// A thread's name in crash reports, and the stack on which its crash is handled.
#pragma once

#include <cstddef>
#include <thread>

namespace tenon::core {

/// How crash reports call a thread.
struct ThreadLabel {
  const char* what = nullptr;  ///< "loader"; nullptr for a thread that is not ours.
  int number = -1;             ///< -1: there is but one.
};

/// As with the breadcrumb, a signal handler may read it.
extern thread_local constinit ThreadLabel thread_label [[gnu::tls_model("initial-exec")]];

/// Names the thread that makes it, and where crashes are handled gives it a stack of its own for them, so that a stack
/// overflow can be told too. Made first and destroyed last in a thread; one that has such a stack keeps it, also where
/// another thread destroys this object.
class AlternateStack {
 public:
  /// `what` is a literal.
  explicit AlternateStack(const char* what, int number = -1);
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;
  ~AlternateStack();

 private:
  ThreadLabel before_;
  std::thread::id owner_ = std::this_thread::get_id();
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tenon::core
