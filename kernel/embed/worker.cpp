// One slot for work, one thread that empties it.
#include <embed/worker.hpp>

#include <utility>

#include <core/process/alternate_stack.hpp>

namespace tenon::kernel {

Worker::Worker() : thread_([this] { work(); }) {}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Worker::run(const std::function<void()>& body) {
  std::unique_lock lock(mutex_);
  body_ = &body;
  changed_.notify_all();
  changed_.wait(lock, [&] { return body_ == nullptr; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Worker::work() {
  const core::AlternateStack stack("kernel");
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ending_ || body_ != nullptr; });
    if (body_ == nullptr) return;
    lock.unlock();
    std::exception_ptr failure;
    try {
      (*body_)();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failure_ = std::move(failure);
    body_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace tenon::kernel
