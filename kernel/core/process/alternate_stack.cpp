// sigaltstack over memory with a guard page.
#include <core/process/alternate_stack.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>

#include <core/process/crash_handlers.hpp>

namespace tenon::core {
namespace {

/// For the frame of the signal, some KiB with wide registers, unwinding, and the text.
constexpr std::size_t kUsed = std::size_t{128} << 10U;

}  // namespace

thread_local constinit ThreadLabel thread_label;

AlternateStack::AlternateStack(const char* what, int number) : before_(thread_label) {
  thread_label = {what, number};
  stack_t present = {};
  if (!CrashHandlers::installed() || ::sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) {
    return;
  }
  const auto guard = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory = ::mmap(nullptr, guard + kUsed, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;  // a stack overflow is then not explained
  char* const usable = static_cast<char*>(memory) + guard;
  stack_t own = {};
  own.ss_sp = usable;
  own.ss_size = kUsed;
  if (::mprotect(usable, kUsed, PROT_READ | PROT_WRITE) != 0 || ::sigaltstack(&own, nullptr) != 0) {
    ::munmap(memory, guard + kUsed);
    return;
  }
  memory_ = memory;
  size_ = guard + kUsed;
}

AlternateStack::~AlternateStack() {
  if (owner_ != std::this_thread::get_id()) return;  // the memory is that thread's stack for signals still
  thread_label = before_;
  if (memory_ == nullptr) return;
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
  ::munmap(memory_, size_);
}

}  // namespace tenon::core
