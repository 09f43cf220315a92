// The handlers: they find out where the thread was, and leave the rest to the report.
#include <core/process/crash_handlers.hpp>

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <typeinfo>

#include <core/process/breadcrumb.hpp>
#include <core/process/crash_report.hpp>
#include <core/process/crash_text.hpp>
#include <core/process/mapped_file_at.hpp>
#include <core/process/plugin_ranges.hpp>

namespace tenon::core {
namespace {

constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int kExitCode = 3;             // that of a plugin's failure
constexpr unsigned kSecondsAtMost = 10;  // for a report: a stack that is destroyed could lead in circles
constexpr int kFramesAtMost = 96;
constexpr uintptr_t kNearStack = uintptr_t{64} << 10U;

enum class Stage { kCalm, kLooking, kTelling };

std::atomic<bool> are_installed{false};
std::atomic<pid_t> process{0};
std::atomic<pid_t> crashing{0};  // the thread whose crash is handled
std::atomic<Stage> stage{Stage::kCalm};
Crash crash;  // filled by that thread alone, as are those below
std::array<uintptr_t, kFramesAtMost + 2> frames;
std::array<char, 2048> exception_text;
std::array<char, kMappedPathRoom> mapped_path;
std::array<char, kMappedPathRoom + 256> mapped_text;

/// Where a thread was.
struct Registers {
  uintptr_t program_counter = 0;
  uintptr_t stack_pointer = 0;
};

Registers registers_of(const void* context) noexcept {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return {static_cast<uintptr_t>(machine.gregs[REG_RIP]), static_cast<uintptr_t>(machine.gregs[REG_RSP])};
#elif defined(__aarch64__)
  return {machine.pc, machine.sp};
#else
  static_cast<void>(machine);
  return {};
#endif
}

std::string_view name_of(int signal) noexcept {
  switch (signal) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGILL: return "SIGILL";
    default: return "SIGABRT";
  }
}

std::string_view detail_of(const siginfo_t& info, const Registers& at) noexcept {
  const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
  if (info.si_signo == SIGSEGV && info.si_code > 0 && at.stack_pointer != 0 &&
      address + kNearStack >= at.stack_pointer && address < at.stack_pointer + kNearStack) {
    return "stack overflow";
  }
  if (info.si_signo == SIGFPE && info.si_code == FPE_INTDIV) return "integer division by zero";
  if (info.si_signo == SIGBUS && info.si_code == BUS_ADRERR)
    return "a file that is mapped became shorter, or its disk failed";
  if (info.si_signo == SIGILL && info.si_code > 0) return "an instruction that this CPU does not have";
  return {};
}

/// Which file it was, and whether it lacks what was read: else it is there, and the system could not bring it.
void name_mapped_file() noexcept {
  const MappedPlace place = mapped_file_at(crash.address, mapped_path);
  if (place.path.empty()) return;
  CrashText text(mapped_text);
  text.plain(place.path);
  struct stat status = {};
  if (::stat(place.path.data(), &status) != 0) {
    text << ", which is mapped, became shorter, or its disk failed";
  } else if (status.st_size <= place.offset) {
    text << ", which is mapped, became shorter: it ends at byte " << int64_t{status.st_size} << ", and byte "
         << place.offset << " was read";
  } else {
    text << ", which is mapped, cannot be read from its disk at byte " << place.offset;
  }
  crash.detail = text.text();
}

/// The kernel says which address only for an access, and not for one that no pointer can hold.
bool has_address(const siginfo_t& info) noexcept {
  return (info.si_signo == SIGSEGV || info.si_signo == SIGBUS) && info.si_code > 0 && info.si_code != SI_KERNEL;
}

extern "C" void tenon_on_crash_alarm(int /*signal*/) { ::_exit(kExitCode); }

/// Whatever happens from here on, the process ends.
void limit_time() noexcept {
  struct sigaction action = {};
  action.sa_handler = &tenon_on_crash_alarm;
  ::sigaction(SIGALRM, &action, nullptr);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  ::pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
  ::alarm(kSecondsAtMost);
}

[[noreturn]] void wait_for_the_end() noexcept {
  while (true) ::pause();
}

[[noreturn]] void tell_and_end() noexcept {
  stage = Stage::kTelling;
  report_crash(crash);
  ::_exit(kExitCode);
}

/// Lets the first thread through; comes back once. A thread that crashes in its own handler tells what it knows if it
/// was still looking, and ends at once if not; others wait for the end.
void begin_crash() noexcept {
  const auto self = static_cast<pid_t>(::syscall(SYS_gettid));
  pid_t nobody = 0;
  if (!crashing.compare_exchange_strong(nobody, self)) {
    if (nobody != self) wait_for_the_end();
    if (stage != Stage::kLooking) ::_exit(kExitCode);
    tell_and_end();
  }
  stage = Stage::kLooking;
  limit_time();
}

/// The addresses of the stack from `from` on, or all of them where it is not among them.
void find_frames(uintptr_t from, std::size_t known) noexcept {
  std::array<void*, kFramesAtMost> found{};
  const int count = ::backtrace(found.data(), kFramesAtMost);
  int first = 0;
  while (from != 0 && first < count && reinterpret_cast<uintptr_t>(found[static_cast<std::size_t>(first)]) != from) {
    ++first;
  }
  first = first == count ? 0 : from != 0 ? first + 1 : 0;
  for (int i = first; i < count && known < frames.size(); ++i) {
    frames[known++] = reinterpret_cast<uintptr_t>(found[static_cast<std::size_t>(i)]);
  }
  crash.frames = std::span(frames).first(known);
}

/// Behind a call through a bad pointer no unwinder finds its way, but the return address is on the stack.
std::size_t note_place(const Registers& at) noexcept {
  std::size_t known = 0;
  frames[known++] = at.program_counter;
  crash.frames = std::span(frames).first(known);
  dl_find_object object = {};
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  if (_dl_find_object(reinterpret_cast<void*>(at.program_counter), &object) != 0 && at.stack_pointer != 0) {
    uintptr_t word = 0;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    std::memcpy(&word, reinterpret_cast<const void*>(at.stack_pointer), sizeof(word));
    frames[known++] = word;
    crash.frames = std::span(frames).first(known);
  }
  return known;
}

/// As if nothing had caught it.
void let_it_end(int signal) noexcept {
  ::signal(signal, SIG_DFL);
  ::kill(::getpid(), signal);
}

extern "C" void tenon_on_crash(int signal, siginfo_t* info, void* context) {
  const bool sent = info->si_code <= 0 && info->si_pid != ::getpid();
  if (sent || ::getpid() != process) return let_it_end(signal);
  begin_crash();
  const Registers at = registers_of(context);
  crash.signal = name_of(signal);
  crash.detail = detail_of(*info, at);
  crash.at_address = has_address(*info);
  crash.address = reinterpret_cast<uintptr_t>(info->si_addr);
  find_frames(at.program_counter, note_place(at));
  if (signal == SIGBUS && info->si_code == BUS_ADRERR) name_mapped_file();
  tell_and_end();
}

std::string_view copied(std::string_view text, std::size_t offset) noexcept {
  const std::size_t size = std::min(text.size(), exception_text.size() / 2);
  std::memcpy(exception_text.data() + offset, text.data(), size);
  return {exception_text.data() + offset, size};
}

/// Not a signal handler: the stack of the throw is still there, and so is the heap, as a rule.
[[noreturn]] void on_terminate() {
  if (::getpid() != process) std::abort();
  begin_crash();
  find_frames(0, 0);
  if (const std::type_info* const type = abi::__cxa_current_exception_type()) {
    crash.exception = true;
    crash.type = copied(type->name(), 0);
    char* const readable = abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr);
    if (readable != nullptr) crash.type = copied(readable, 0);
    try {
      throw;
    } catch (const std::exception& error) {
      const std::string_view what = error.what();
      crash.what = copied(what.substr(0, what.find("\nException raised from")), exception_text.size() / 2);
    } catch (...) {  // its type is all that can be told
      crash.what = {};
    }
  }
  tell_and_end();
}

/// Hosts themselves end by _Exit, or when the handlers are gone.
void on_exit() noexcept {
  if (!are_installed || ::getpid() != process) return;
  std::array<void*, kFramesAtMost> found{};
  const auto count = static_cast<std::size_t>(::backtrace(found.data(), kFramesAtMost));
  const bool by_plugin = breadcrumb.callee != nullptr ||
                         std::any_of(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(count), [](void* each) {
                           return plugin_at(reinterpret_cast<uintptr_t>(each)) != nullptr;
                         });
  if (!by_plugin) return;  // an embedder may end when it likes
  // Another thread that ends the process meanwhile is to wait here, too.
  CrashHandlers::watch_exit();
  begin_crash();
  crash.exited = true;
  find_frames(0, 0);
  tell_and_end();
}

}  // namespace

bool CrashHandlers::installed() noexcept { return are_installed; }

void CrashHandlers::watch_exit() noexcept {
  if (!are_installed) return;
  static_cast<void>(std::atexit(&on_exit));
  static_cast<void>(::at_quick_exit(&on_exit));
}

CrashHandlers::CrashHandlers() {
  if (!kAvailable || are_installed.exchange(true)) return;
  installed_ = true;
  process = ::getpid();
  std::array<void*, 1> primed{};
  static_cast<void>(::backtrace(primed.data(), 1));  // its first call opens the unwinder's library
  stack_.emplace("main");
  watch_exit();
  struct sigaction action = {};
  action.sa_sigaction = &tenon_on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  // While a crash is handled nothing comes in between but a further one, and the end of the time for it.
  sigfillset(&action.sa_mask);
  for (const int number : kSignals) sigdelset(&action.sa_mask, number);
  sigdelset(&action.sa_mask, SIGALRM);
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &former_[i]);
  former_terminate_ = std::set_terminate(&on_terminate);
}

CrashHandlers::~CrashHandlers() {
  if (!installed_) return;
  std::set_terminate(former_terminate_);
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &former_[i], nullptr);
  stack_.reset();
  are_installed = false;
}

}  // namespace tenon::core
