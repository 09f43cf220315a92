// posix_spawn, waited for with a limit.
#include <core/process/child.hpp>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <core/process/parent.hpp>
#include <core/storage/file.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

constexpr std::size_t kKept = 8192;
constexpr int kPause = 5;  // milliseconds

class FileActions {
 public:
  FileActions(const std::filesystem::path& messages, int output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (output < 0) {
      posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    } else {
      posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    }
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }

  [[nodiscard]] const posix_spawn_file_actions_t* get() const noexcept { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// With the number of this process, by which a child sees whether its parent has gone already.
std::vector<std::string> environment_for_child(const ChildSetup& setup) {
  const std::string prefix = std::string(kParentVariable) + "=";
  std::vector<std::string> variables;
  if (setup.environment) {
    variables = *setup.environment;
  } else {
    for (char** each = environ; *each != nullptr; ++each) variables.emplace_back(*each);
  }
  std::erase_if(variables, [&](const std::string& variable) { return variable.starts_with(prefix); });
  variables.push_back(prefix + std::to_string(::getpid()));
  return variables;
}

Error cannot_start(const std::filesystem::path& program, int error) {
  return {ErrorCode::kStorage, fmt::format("cannot start {}: {}", program.string(), std::strerror(error))};
}

/// A pipe whose other end is the child's standard output.
class Lines {
 public:
  Lines(const std::filesystem::path& program, const std::function<void(std::string_view)>& take) : take_(take) {
    if (!take_) return;
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw cannot_start(program, errno);
    from_ = FileDescriptor(ends[0]);
    to_ = FileDescriptor(ends[1]);
    ::fcntl(from_.get(), F_SETFL, O_NONBLOCK);
  }

  [[nodiscard]] int child_end() const noexcept { return to_ ? to_.get() : -1; }
  void leave_to_child() noexcept { to_.close(); }

  /// Waits a moment, or until there is output.
  void wait() const noexcept {
    if (from_) {
      pollfd waiting{from_.get(), POLLIN, 0};
      if (::poll(&waiting, 1, kPause) == 0 || (waiting.revents & POLLIN) != 0) return;
    }
    ::poll(nullptr, 0, kPause);
  }

  /// Takes what is there, or some MiB of it: more than a pipe holds.
  void read() {
    std::array<char, 65536> buffer{};
    for (int rounds = 0; from_ && rounds < 64; ++rounds) {
      const ssize_t count = ::read(from_.get(), buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return;
      text_.append(buffer.data(), static_cast<std::size_t>(count));
      std::size_t begin = 0;
      for (std::size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n', begin)) {
        take_(std::string_view{text_}.substr(begin, end - begin));
        begin = end + 1;
      }
      text_.erase(0, begin);
    }
  }

  void end() {
    read();
    if (!text_.empty()) take_(std::exchange(text_, {}));
  }

 private:
  const std::function<void(std::string_view)>& take_;
  FileDescriptor from_;
  FileDescriptor to_;
  std::string text_;
};

/// A started program, which does not outlive this object.
class Running {
 public:
  Running(const std::filesystem::path& program, const std::vector<std::string>& arguments,
          const std::filesystem::path& messages, const ChildSetup& setup, int output)
      : program_(program) {
    std::vector<std::string> texts{program.string()};
    texts.insert(texts.end(), arguments.begin(), arguments.end());
    std::vector<std::string> variables = environment_for_child(setup);
    const FileActions actions(messages, output);
    const int error = posix_spawn(&child_, program.c_str(), actions.get(), nullptr, pointers(texts).data(),
                                  pointers(variables).data());
    if (error != 0) throw cannot_start(program, error);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    if (ended_) return;
    kill();
    while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  void kill() const noexcept { ::kill(child_, SIGKILL); }

  /// Its exit code once it has ended.
  [[nodiscard]] std::optional<int> ended() {
    int status = 0;
    const pid_t ended = ::waitpid(child_, &status, WNOHANG);
    if (ended < 0 && errno != EINTR) {
      ended_ = true;
      throw Error(ErrorCode::kStorage, fmt::format("lost the process of {}", program_.string()));
    }
    if (ended != child_) return std::nullopt;
    ended_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  const std::filesystem::path& program_;
  pid_t child_ = 0;
  bool ended_ = false;
};

/// A file that goes with this object.
class Messages {
 public:
  explicit Messages(const std::filesystem::path& file) : file_(file) {}
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  ~Messages() {
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);
  }

  [[nodiscard]] std::string tail() const {
    std::ifstream in(file_, std::ios::binary | std::ios::ate);
    const auto size = static_cast<std::streamoff>(in.tellg());
    if (size <= 0) return {};
    const auto kept = std::min(size, static_cast<std::streamoff>(kKept));
    std::string text(static_cast<std::size_t>(kept), '\0');
    in.seekg(size - kept);
    in.read(text.data(), kept);
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
  }

 private:
  const std::filesystem::path& file_;
};

}  // namespace

ChildResult run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                      const std::filesystem::path& messages, std::chrono::seconds limit,
                      const std::function<bool()>& cancelled, const ChildSetup& setup) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  const Messages said(messages);
  Lines lines(program, setup.take_line);
  Running child(program, arguments, messages, setup, lines.child_end());
  lines.leave_to_child();
  ChildResult result;
  std::optional<int> exit_code;
  while (true) {
    exit_code = child.ended();
    if (exit_code) break;
    if (!result.timed_out && !result.cancelled) {
      result.cancelled = cancelled && cancelled();
      result.timed_out = !result.cancelled && std::chrono::steady_clock::now() > deadline;
      if (result.cancelled || result.timed_out) child.kill();
    }
    lines.wait();
    lines.read();
  }
  lines.end();
  result.exit_code = *exit_code;
  result.messages = said.tail();
  return result;
}

}  // namespace tenon::core
