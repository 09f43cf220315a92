// tenon doctor: whether this installation can train, and what to do where it cannot.
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/plugin/refusal.hpp>
#include <core/plugin/verdicts.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/pipeline.hpp>
#include <host/table.hpp>
#include <host/tensors.hpp>

namespace tenon::host {
namespace {

namespace fs = std::filesystem;

enum class Verdict { kFine, kNote, kProblem };

struct Finding {
  std::string subject;
  Verdict verdict = Verdict::kFine;
  std::string text;
};

class Examination {
 public:
  void add(std::string subject, Verdict verdict, std::string text) {
    findings_.push_back({std::move(subject), verdict, std::move(text)});
  }

  [[nodiscard]] std::size_t problems() const {
    std::size_t count = 0;
    for (const Finding& finding : findings_) count += finding.verdict == Verdict::kProblem ? 1 : 0;
    return count;
  }

  [[nodiscard]] std::string render(const Console& console) const {
    const Paint paint = console.paint();
    Table table;
    table.style(0, [&](std::string_view text) { return paint.bold(text); });
    table.style(1, [&](std::string_view text) {
      return text == "ok" ? paint.green(text) : text == "note" ? paint.yellow(text) : paint.red(text);
    });
    for (const Finding& each : findings_) {
      const char* const word = each.verdict == Verdict::kFine   ? "ok"
                               : each.verdict == Verdict::kNote ? "note"
                                                                : "problem";
      table.add({each.subject, word, each.text});
    }
    return table.render(console.width());
  }

 private:
  std::vector<Finding> findings_;
};

std::optional<core::Libtorch> examine_libtorch(Examination& examination) {
  try {
    core::Libtorch libtorch = core::find_libtorch();
    examination.add("libtorch", Verdict::kFine,
                    fmt::format("{} in {}{}", libtorch.version, libtorch.libraries.string(),
                                libtorch.cuda ? ", with CUDA" : ", for the CPU alone"));
    return libtorch;
  } catch (const Error& error) {
    examination.add("libtorch", Verdict::kProblem, error.what());
    return std::nullopt;
  }
}

void examine_cuda(Examination& examination, const core::Libtorch& libtorch, const engine::DeviceReport& report) {
  if (!report.cuda_devices.empty()) {
    examination.add("cuda", Verdict::kFine, fmt::format("{}", fmt::join(report.cuda_devices, ", ")));
  } else if (!core::has_nvidia_driver()) {
    examination.add("cuda", Verdict::kFine, "no NVIDIA driver on this machine; run.device \"auto\" is the CPU");
  } else if (!libtorch.cuda) {
    examination.add(
        "cuda", Verdict::kNote,
        "there is an NVIDIA driver, but this libtorch is for the CPU alone; to use the GPU set TENON_LIBTORCH "
        "to a libtorch with CUDA");
  } else {
    examination.add("cuda", Verdict::kProblem,
                    fmt::format("there is an NVIDIA driver, but no usable device: {}; until that is mended set "
                                "run.device to \"cpu\"",
                                report.cuda_problem.empty() ? "libtorch reports none" : report.cuda_problem));
  }
}

void examine_engine(Examination& examination, const core::Libtorch& libtorch) {
  core::RuntimeRequest request;
  request.cuda = core::has_nvidia_driver() && libtorch.cuda;
  try {
    const auto begin = std::chrono::steady_clock::now();
    const OpenedEngine opened = open_engine(request);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    const engine::DeviceReport report = opened.engine->devices();
    examination.add("engine", Verdict::kFine,
                    fmt::format("{}, opened with libtorch {} in {:.2f} s", opened.runtime.engine_path().string(),
                                report.libtorch, taken.count()));
    examination.add("cpu", Verdict::kFine,
                    fmt::format("{}, {}, {} by default", counted(std::thread::hardware_concurrency(), "core"),
                                report.cpu_capability, counted(static_cast<std::size_t>(report.threads), "thread")));
    examine_cuda(examination, libtorch, report);
  } catch (const Error& error) {
    examination.add("engine", Verdict::kProblem, error.what());
  }
}

void examine_plugins(Examination& examination, const core::SearchPath& path, const core::Catalogue& catalogue) {
  for (const core::SearchFolder& folder : path.folders) {
    std::size_t count = 0;
    for (const core::PluginInfo& plugin : catalogue.plugins()) {
      count += plugin.path == folder.path || plugin.path.parent_path() == folder.path ? 1 : 0;
    }
    std::error_code ignored;
    const bool there = fs::exists(folder.path, ignored);
    examination.add("plugins", Verdict::kFine,
                    fmt::format("{} {}", there ? counted(count, "plugin") + " in" : "no folder", folder.path.string()));
  }
  for (const std::string& warning : catalogue.warnings()) examination.add("plugins", Verdict::kNote, warning);
  for (const core::RefusedPlugin& refused : catalogue.refused()) {
    examination.add("plugins", Verdict::kProblem, fmt::format("{}: {}", refused.path.string(), refused.message));
  }
  if (catalogue.of_kind("dataset").empty() || catalogue.of_kind("model").empty()) {
    examination.add(
        "plugins", Verdict::kProblem,
        "no datasets or no models are installed; plugins lie in lib/tenon/plugins beside bin, or name their "
        "folder by --plugin-path or TENON_PLUGIN_PATH");
  }
}

/// Whether files can be made in a folder, and what room there is.
void examine_folder(Examination& examination, std::string subject, const fs::path& folder, std::string_view fix) {
  constexpr double kGigabyte = 1e9;
  std::error_code failed;
  const fs::space_info space = fs::space(folder, failed);
  if (failed) {
    examination.add(
        std::move(subject), Verdict::kProblem,
        fmt::format("{}: {}; {}", folder.empty() ? "the current directory" : folder.string(), failed.message(), fix));
  } else if (access(folder.c_str(), W_OK | X_OK) != 0) {
    examination.add(std::move(subject), Verdict::kProblem,
                    fmt::format("{} cannot be written to; {}", folder.string(), fix));
  } else {
    const double free = static_cast<double>(space.available) / kGigabyte;
    examination.add(
        std::move(subject), free < 1 ? Verdict::kNote : Verdict::kFine,
        fmt::format("{}, {:.1f} GB free{}", folder.string(), free, free < 1 ? "; checkpoints may not fit" : ""));
  }
}

void examine_folders(Examination& examination) {
  std::error_code ignored;
  examine_folder(examination, "runs", fs::current_path(ignored),
                 "runs are written below the current directory; choose another one by run.dir");
  const fs::path cache = core::cache_folder();
  if (fs::exists(cache, ignored)) {
    examine_folder(examination, "cache", cache, "set TENON_CACHE to a folder of yours");
  } else {
    examination.add("cache", Verdict::kFine, fmt::format("{} is not there and not needed", cache.string()));
  }
}

int doctor(const Arguments& arguments, Console& console) {
  Examination examination;
  examination.add("tenon", Verdict::kFine, fmt::format("{} in {}", TENON_VERSION, program_file().string()));
  const core::SearchPath path = search_path(arguments);
  examine_plugins(examination, path, core::Catalogue::scan(path));
  if (const std::optional<core::Libtorch> libtorch = examine_libtorch(examination)) {
    examine_engine(examination, *libtorch);
  }
  examine_folders(examination);
  console.print(examination.render(console));
  const std::size_t problems = examination.problems();
  console.print(problems == 0 ? "all is well\n" : fmt::format("{}\n", counted(problems, "problem")));
  return problems == 0 ? 0 : exit_code(ErrorCode::kPlugin);
}

constexpr ExitCode kExitCodes[]{{0, "all is well"}, {2, "the command line is wrong"}, {3, "there are problems"}};
constexpr Command kDoctor{
    .name = "doctor",
    .group = Group::kMachine,
    .summary = "look for what keeps this installation from training",
    .purpose =
        "Examines the installation: plugins and where they are looked for, libtorch, the engine, "
        "processor and GPUs, and the folders that runs write to. Each line says ok, note (works, but "
        "look) or problem with what to do. Opens libtorch, so that it takes about a second.",
    .operands = {},
    .options = {},
    .examples =
        "tenon doctor\n"
        "tenon doctor --plugin-path ~/my-plugins",
    .exit_codes = kExitCodes,
    .run = &doctor,
};
TENON_COMMAND(kDoctor);

}  // namespace
}  // namespace tenon::host
