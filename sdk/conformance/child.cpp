// fork, a pipe for the findings, a page of shared memory for what was being done, a file for what it writes.
#include <conformance/child.hpp>

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <tenon/error.hpp>

namespace tenon::conformance {
namespace {

constexpr std::size_t kActivity = 4096;

/// A page that a child writes and its parent reads, also when the child is gone.
class Shared {
 public:
  Shared()
      : text_(
            static_cast<char*>(::mmap(nullptr, kActivity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    if (text_ == MAP_FAILED) throw Error(ErrorCode::kMemory, "cannot share memory with a child");
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { ::munmap(text_, kActivity); }
  [[nodiscard]] char* text() const noexcept { return text_; }

 private:
  char* text_;
};

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  [[nodiscard]] int get() const noexcept { return number_; }

 private:
  int number_;
};

std::string plain(const std::string& text) { return text.substr(0, text.find("\nException raised from")); }

Json as_json(const Bench& bench) {
  Json findings = Json::array();
  for (const Finding& each : bench.findings()) {
    findings.push_back({{"severity", each.severity == Severity::kError ? "error" : "warning"},
                        {"message", each.message},
                        {"cure", each.cure},
                        {"params", each.params}});
  }
  return findings;
}

/// Runs in the child. Whatever leaves the case is a finding.
Json run_here(const Case& test, const Subject& subject, char* activity) {
  Bench bench(subject, activity, kActivity);
  std::string skipped;
  constexpr const char* kCure = "a component answers with tenon::Error, and only where it must";
  try {
    subject.write_files();
    test.run(bench);
  } catch (const Skip& skip) {
    skipped = skip.reason;
  } catch (const Error& error) {
    bench.fail(fmt::format("during {}: {}", activity, error.what()), kCure);
  } catch (const std::exception& error) {
    bench.fail(fmt::format("during {} it throws: {}", activity, plain(error.what())), kCure);
  } catch (...) {
    bench.fail(fmt::format("during {} it throws an exception of a foreign type", activity),
               "derive exceptions from std::exception, or better throw tenon::Error");
  }
  return {{"skipped", skipped}, {"findings", as_json(bench)}};
}

[[noreturn]] void be_child(const Case& test, const Subject& subject, char* activity, int results, int output) {
  ::setpgid(0, 0);  // so that what the plugin starts ends with the case
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  at::set_num_threads(1);  // a pool of threads does not survive a fork: it is made anew, before others may ask for it
  std::string text;
  try {
    text = run_here(test, subject, activity).dump(-1, ' ', false, Json::error_handler_t::replace);
  } catch (...) {
    std::_Exit(70);
  }
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(results, text.data() + done, text.size() - done);
    if (count <= 0) std::_Exit(70);
    done += static_cast<std::size_t>(count);
  }
  std::_Exit(0);  // no destructors of what the parent owns, too
}

std::string last_lines(int file) {
  const off_t size = ::lseek(file, 0, SEEK_END);
  const off_t begin = size > 400 ? size - 400 : 0;
  std::string text(size > 0 ? static_cast<std::size_t>(size - begin) : 0, '\0');
  if (!text.empty() && ::pread(file, text.data(), text.size(), begin) < 0) text.clear();
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text.empty() ? "" : "; the last that it wrote: " + text;
}

bool has_ended(pid_t child) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid != 0;
}

/// Everything from the pipe until the child has ended; false when the time was over first. The end of the pipe is not
/// waited for: a process that the plugin started may hold it.
bool read_all(int pipe, pid_t child, std::chrono::steady_clock::time_point deadline, std::string& text) {
  constexpr int kPause = 20;
  bool over = false;
  while (true) {
    pollfd waiting{pipe, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, over ? 0 : kPause);
    if (ready > 0) {
      char buffer[4096];
      const ssize_t count = ::read(pipe, buffer, sizeof(buffer));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {  // it has closed the pipe, which is not yet its end
        if (has_ended(child)) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(kPause));
        if (std::chrono::steady_clock::now() > deadline) return false;
        continue;
      }
      text.append(buffer, static_cast<std::size_t>(count));
    } else if (over) {
      return true;
    } else {
      over = has_ended(child);  // what it wrote before is in the pipe
    }
    if (!over && std::chrono::steady_clock::now() > deadline) return false;
  }
}

}  // namespace

void end_with_parent() noexcept {
  const char* const parent = std::getenv("TENON_PARENT");
  if (parent == nullptr) return;
  const auto expected = std::strtol(parent, nullptr, 10);
  ::unsetenv("TENON_PARENT");
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != expected) static_cast<void>(std::raise(SIGKILL));  // it went before the system was told
}

Outcome run_case(const Case& test, const Subject& subject, std::chrono::milliseconds limit) {
  const auto begin = std::chrono::steady_clock::now();
  const Shared activity;
  Descriptor output(::memfd_create("output", MFD_CLOEXEC));
  int ends[2];
  if (output.get() < 0 || ::pipe(ends) != 0) throw Error(ErrorCode::kMemory, "cannot make a pipe to a child");
  Descriptor from(ends[0]);
  Descriptor to(ends[1]);
  std::snprintf(activity.text(), kActivity, "%s", "the start of the case");
  const pid_t child = ::fork();
  if (child < 0) throw Error(ErrorCode::kMemory, fmt::format("cannot fork: {}", std::strerror(errno)));
  if (child == 0) {
    from.close();
    be_child(test, subject, activity.text(), to.get(), output.get());
  }
  to.close();
  std::string text;
  const bool in_time = read_all(from.get(), child, begin + limit, text);
  if (!in_time) ::kill(child, SIGKILL);
  siginfo_t ended{};
  while (::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  ::kill(-child, SIGKILL);  // what it has started; before its number may belong to another
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  Outcome outcome;
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const Json said = Json::parse(text, nullptr, false);
  const auto early = [&](std::string message, const char* cure) {
    outcome.verdict = "failed";
    outcome.ended_early = true;
    outcome.findings.push_back(
        {{"severity", "error"}, {"message", std::move(message)}, {"cure", cure}, {"params", nullptr}});
  };
  activity.text()[kActivity - 1] = '\0';
  if (!in_time) {
    early(fmt::format("it was ended after {:.1f} s, during {}{}", outcome.seconds, activity.text(),
                      last_lines(output.get())),
          "find the loop or lock that does not end; a slow machine may need a larger --timeout");
  } else if (WIFSIGNALED(status)) {
    early(fmt::format("it crashed (SIG{}) during {}{}", sigabbrev_np(WTERMSIG(status)), activity.text(),
                      last_lines(output.get())),
          "run the same under a debugger or AddressSanitizer");
  } else if (!said.is_object()) {
    early(fmt::format("its process ended with exit code {} during {}{}", WEXITSTATUS(status), activity.text(),
                      last_lines(output.get())),
          "a plugin may not end the process: no exit(), no abort()");
  } else {
    outcome.reason = said["skipped"];
    outcome.findings = said["findings"];
    outcome.verdict = outcome.reason.empty() ? "passed" : "skipped";
    for (const Json& each : outcome.findings) {
      if (each["severity"] == "error") outcome.verdict = "failed";
      if (each["severity"] == "warning" && outcome.verdict != "failed") outcome.verdict = "warned";
    }
  }
  return outcome;
}

}  // namespace tenon::conformance
