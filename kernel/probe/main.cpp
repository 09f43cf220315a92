// tenon-probe PROGRESS LIBTORCH PLUGIN…: opens plugins so that their parent learns whether a process survives it.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/plugin/elf.hpp>
#include <core/plugin/loader.hpp>
#include <core/plugin/manifest.hpp>
#include <core/plugin/open_library.hpp>
#include <core/plugin/refusal.hpp>
#include <core/plugin/runtime.hpp>
#include <core/plugin/search_path.hpp>
#include <core/process/parent.hpp>
#include <core/process/process_state.hpp>

namespace {

namespace fs = std::filesystem;
namespace core = tenon::core;

/// Tells the parent how far this process has come; a line is there before what it announces begins.
class Progress {
 public:
  explicit Progress(const fs::path& file) : stream_(std::fopen(file.c_str(), "ae")) {
    if (stream_ == nullptr) std::_Exit(EXIT_FAILURE);
  }

  void tell(std::string line) {
    std::ranges::replace(line, '\n', ' ');
    (void)std::fprintf(stream_, "%s\n", line.c_str());
    (void)std::fflush(stream_);
  }

 private:
  std::FILE* stream_;  // open until the process ends
};

core::PluginInfo read(const fs::path& path) {
  const core::ElfFile file(path);
  return core::read_plugin(file, core::manifest_in(file));
}

/// Without the name of the file, which the parent adds.
std::string reason(const std::exception& error) {
  const auto* const refusal = dynamic_cast<const core::Refusal*>(&error);
  return fmt::format("{} {}", refusal == nullptr ? "error" : refusal->reason(), error.what());
}

void open_libtorch(const fs::path& folder, Progress& progress) {
  progress.tell("libtorch");
  try {
    for (const char* const name : {"libc10.so", "libtorch_cpu.so"}) (void)core::open_library(folder / name);
    std::error_code ignored;
    if (core::has_nvidia_driver() && fs::exists(folder / "libtorch_cuda.so", ignored)) {
      (void)core::open_library(folder / "libtorch_cuda.so");
    }
    // The engine brings it in a run; plugins name no folder for it.
    if (const fs::path layers = core::install_library_folder() / "libtenon_nn.so.1"; fs::exists(layers, ignored)) {
      (void)core::open_library(layers);
    }
  } catch (const std::exception& error) {
    progress.tell("no-libtorch " + reason(error));
    std::_Exit(EXIT_FAILURE);
  }
}

/// What a run would have to live with from here on.
void require_unchanged(const core::ProcessState& before) {
  const std::vector<std::string> changes = before.changes(core::ProcessState());
  if (changes.empty()) return;
  throw core::Refusal("changes-process",
                      fmt::format("opening it changes for the whole process {}: nothing may be done by code that runs "
                                  "then (objects at namespace scope, constructor functions), be it of a library that "
                                  "it needs",
                                  fmt::join(changes, "; and ")));
}

void probe(const fs::path& path, std::size_t number, Progress& progress) {
  progress.tell(fmt::format("open {}", number));
  try {
    const core::PluginInfo plugin = read(path);
    const core::ProcessState before;
    (void)core::open_library(path);
    require_unchanged(before);
    progress.tell(fmt::format("describe {}", number));
    const core::OpenedPlugin opened(plugin);
    require_unchanged(before);
    progress.tell(fmt::format("good {}", number));
  } catch (const std::exception& error) {
    progress.tell(fmt::format("bad {} {}", number, reason(error)));
  }
}

}  // namespace

int main(int count, char** words) {
  tenon::core::end_with_parent();
  const std::span<char*> arguments(words, static_cast<std::size_t>(count));
  constexpr std::size_t kFirstPlugin = 3;
  if (arguments.size() < kFirstPlugin) {
    (void)std::fputs("usage: tenon-probe PROGRESS LIBTORCH PLUGIN...\nA part of tenon; not for use by hand.\n", stderr);
    return 2;
  }
  const rlimit none{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &none);  // a crash here is an answer, nothing to be kept
  Progress progress(arguments[1]);
  if (*arguments[2] != '\0') open_libtorch(arguments[2], progress);
  for (std::size_t i = kFirstPlugin; i < arguments.size(); ++i) probe(arguments[i], i - kFirstPlugin, progress);
  std::_Exit(EXIT_SUCCESS);  // as runs end: what was opened stays
}
