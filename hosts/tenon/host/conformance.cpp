// The program, its environment, and its lines.
#include <host/conformance.hpp>

#include <unistd.h>

#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <core/plugin/runtime.hpp>
#include <core/plugin/search_path.hpp>
#include <core/process/child.hpp>
#include <core/storage/scratch_folder.hpp>
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

/// "exit code 3", "signal 11"
std::string end_of(const core::ChildResult& child) {
  constexpr int kSignal = 128;
  return child.exit_code > kSignal ? fmt::format("signal {}", child.exit_code - kSignal)
                                   : fmt::format("exit code {}", child.exit_code);
}

}  // namespace

void run_conformance(const std::vector<std::string>& arguments, const std::function<void(const core::Json&)>& take) {
  const fs::path program = core::install_library_folder() / "tenon/tenon-conformance";
  std::error_code ignored;
  if (!fs::exists(program, ignored)) {
    throw Error(ErrorCode::kPlugin, fmt::format("{} is missing: install Tenon anew", program.string()));
  }
  const core::ChildSetup setup{.environment = environment(core::find_libtorch().libraries),
                               .take_line = [&take](std::string_view text) {
                                 const core::Json line = core::Json::parse(text, nullptr, false);
                                 if (line.is_object()) take(line);
                               }};
  const core::ScratchFolder scratch(fs::temp_directory_path(), "tenon-check-");
  const core::ChildResult child =
      core::run_child(program, arguments, scratch.path() / "messages", core::kNoLimit, {}, setup);
  if (child.exit_code == 0) return;
  std::string said = child.messages.substr(0, child.messages.find_last_not_of('\n') + 1);
  throw Error(ErrorCode::kPlugin, fmt::format("tenon-conformance ended with {}{}", end_of(child),
                                              said.empty() ? "" : fmt::format("; it said: {}", said)));
}

}  // namespace tenon::host
