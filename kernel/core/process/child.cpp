// posix_spawn, waited for with a limit.
#include <core/process/child.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include <tenon/error.hpp>

namespace tenon::core {
namespace {

constexpr std::size_t kKept = 8192;

class FileActions {
 public:
  explicit FileActions(const std::filesystem::path& messages) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }

  [[nodiscard]] const posix_spawn_file_actions_t* get() const noexcept { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

pid_t start(const std::filesystem::path& program, const std::vector<std::string>& arguments,
            const std::filesystem::path& messages) {
  std::vector<std::string> texts{program.string()};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(texts.size() + 1);
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  const FileActions actions(messages);
  pid_t child = 0;
  const int error = posix_spawn(&child, program.c_str(), actions.get(), nullptr, argv.data(), environ);
  if (error != 0) {
    throw Error(ErrorCode::kStorage, fmt::format("cannot start {}: {}", program.string(), std::strerror(error)));
  }
  return child;
}

std::string tail_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return text.size() > kKept ? text.substr(text.size() - kKept) : text;
}

}  // namespace

ChildResult run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                      const std::filesystem::path& messages, std::chrono::seconds limit,
                      const std::function<bool()>& cancelled) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  const pid_t child = start(program, arguments, messages);
  ChildResult result;
  int status = 0;
  while (true) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) {
      throw Error(ErrorCode::kStorage, fmt::format("lost the process of {}", program.string()));
    }
    if (!result.timed_out && !result.cancelled) {
      result.cancelled = cancelled && cancelled();
      result.timed_out = !result.cancelled && std::chrono::steady_clock::now() > deadline;
      if (result.cancelled || result.timed_out) kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.messages = tail_of(messages);
  std::error_code ignored;
  std::filesystem::remove(messages, ignored);
  return result;
}

}  // namespace tenon::core
