// A scratch folder, the child, and what it says.
#include <host/graphviz.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <core/process/child.hpp>
#include <core/storage/atomic_file.hpp>
#include <core/storage/file.hpp>
#include <core/storage/scratch_folder.hpp>
#include <tenon/error.hpp>

namespace tenon::host {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kLimit{5};
constexpr int kSignals = 128;  // added to the signal's number
constexpr std::string_view kElsewhere = "take --dot and draw it with another of Graphviz's programs, such as sfdp";

/// Dot is known to crash on graphs that are too large for it.
std::string how_it_ended(int exit_code) {
  if (exit_code < kSignals) return fmt::format("failed with exit code {}", exit_code);
  return fmt::format("was ended by signal {} while it drew this graph; {}", exit_code - kSignals, kElsewhere);
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

}  // namespace

std::optional<fs::path> find_program(const std::string& name) {
  const char* const variable = std::getenv("PATH");
  const std::string_view folders = variable == nullptr ? "" : variable;
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const fs::path candidate = fs::path(folders.substr(begin, end - begin)) / name;
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored) && ::access(candidate.c_str(), X_OK) == 0) {
      return fs::absolute(candidate);
    }
    begin = end + 1;
  }
  return std::nullopt;
}

std::string draw_svg(const std::string& dot_text) {
  const std::optional<fs::path> program = find_program("dot");
  if (!program) {
    throw Error(ErrorCode::kConfig,
                "there is no \"dot\" on the PATH, which draws the SVG: install Graphviz (Debian: apt-get install "
                "graphviz), or take --dot and draw it elsewhere");
  }
  const core::ScratchFolder scratch(fs::temp_directory_path(), "tenon-graph-");
  const fs::path in = scratch.path() / "graph.dot";
  const fs::path out = scratch.path() / "graph.svg";
  core::write_atomically(in, dot_text);
  const core::ChildResult result =
      core::run_child(*program, {"-Tsvg", "-o", out.string(), in.string()}, scratch.path() / "messages", kLimit);
  if (result.timed_out) {
    throw Error(ErrorCode::kConfig, fmt::format("{} took more than {} minutes for this graph; {}", program->string(),
                                                kLimit.count(), kElsewhere));
  }
  if (result.exit_code != 0) {
    const std::string said = first_line(result.messages);
    throw Error(ErrorCode::kConfig, fmt::format("{} {}{}{}", program->string(), how_it_ended(result.exit_code),
                                                said.empty() ? "" : ": ", said));
  }
  return core::read_text(out, ErrorCode::kStorage);
}

}  // namespace tenon::host
