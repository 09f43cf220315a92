// A thread on which libtorch works, so that what it keeps by thread never touches one of the program's.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace tenon::kernel {

/// Runs what it is given on one thread of its own, which ends with it.
class Worker {
 public:
  Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  /// Runs `body` there and waits for its end; what it throws comes out. One caller at a time.
  void run(const std::function<void()>& body);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* body_ = nullptr;
  std::exception_ptr failure_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace tenon::kernel
