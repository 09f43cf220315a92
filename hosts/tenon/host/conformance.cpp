// posix_spawn with a pipe on the program's standard output.
#include <host/conformance.hpp>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include <core/plugin/runtime.hpp>
#include <core/plugin/search_path.hpp>
#include <core/storage/file.hpp>
#include <tenon/error.hpp>

namespace tenon::host {
namespace {

namespace fs = std::filesystem;

/// This process's environment, with libtorch's folder first in the loader's path and none of the variables that choose
/// how many threads libtorch has.
std::vector<std::string> environment(const fs::path& libtorch) {
  std::vector<std::string> variables;
  std::string path = libtorch.string();
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view variable = *each;
    if (variable.starts_with("LD_LIBRARY_PATH=")) {
      path += fmt::format(":{}", variable.substr(variable.find('=') + 1));
    } else if (!variable.starts_with("OMP_NUM_THREADS=") && !variable.starts_with("MKL_NUM_THREADS=")) {
      variables.emplace_back(variable);
    }
  }
  variables.push_back("LD_LIBRARY_PATH=" + path);
  variables.emplace_back("OMP_NUM_THREADS=1");
  variables.emplace_back("MKL_NUM_THREADS=1");
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

pid_t start(const fs::path& program, const std::vector<std::string>& arguments, const fs::path& libtorch, int output) {
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment(libtorch);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  pid_t child = 0;
  const int error =
      posix_spawn(&child, program.c_str(), &actions, nullptr, pointers(words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw Error(ErrorCode::kPlugin, fmt::format("cannot start {}: {}", program.string(), std::strerror(error)));
  }
  return child;
}

/// Calls `take` with every line until the pipe ends.
void read_lines(int pipe, const std::function<void(const core::Json&)>& take) {
  std::string text;
  char buffer[65536];
  while (true) {
    const ssize_t count = ::read(pipe, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.append(buffer, static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
      const core::Json line = core::Json::parse(text.substr(begin, end - begin), nullptr, false);
      if (line.is_object()) take(line);
      begin = end + 1;
    }
    text.erase(0, begin);
  }
}

}  // namespace

void run_conformance(const std::vector<std::string>& arguments, const std::function<void(const core::Json&)>& take) {
  const fs::path program = core::install_library_folder() / "tenon/tenon-conformance";
  std::error_code ignored;
  if (!fs::exists(program, ignored)) {
    throw Error(ErrorCode::kPlugin, fmt::format("{} is missing: install Tenon anew", program.string()));
  }
  const core::Libtorch libtorch = core::find_libtorch();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(ErrorCode::kMemory, "cannot make a pipe to tenon-conformance");
  const core::FileDescriptor from(ends[0]);
  core::FileDescriptor to(ends[1]);
  const pid_t child = start(program, arguments, libtorch.libraries, to.get());
  to.close();  // only the child writes
  read_lines(from.get(), take);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  throw Error(ErrorCode::kPlugin, WIFSIGNALED(status)
                                      ? fmt::format("tenon-conformance was ended by signal {}", WTERMSIG(status))
                                      : fmt::format("tenon-conformance ended with exit code {}", WEXITSTATUS(status)));
}

}  // namespace tenon::host
