// tenon verify repro: the same pipeline in several processes, under other loader settings, compared by bytes.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/storage/checkpoint.hpp>
#include <core/text/suggest.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/differences.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>
#include <host/proof_runs.hpp>
#include <host/run_log.hpp>
#include <host/table.hpp>

namespace tenon::host {
namespace {

constexpr int kMostTimes = 100;

int read_times(const Arguments& arguments) {
  const std::string text = arguments.value("times").value_or("2");
  const std::optional<int64_t> times = whole_number(text);
  if (times.value_or(0) < 2 || *times > kMostTimes) {
    throw UsageError(
        {fmt::format("--times takes a number of runs from 2 to {}, not {}", kMostTimes, core::quoted(text))},
        &arguments.command());
  }
  return static_cast<int>(*times);
}

/// Loader settings that must not matter, and are others in each run.
struct LoaderSettings {
  int64_t workers = 0;
  int64_t prefetch = 1;
};

/// For run 1 nothing: the pipeline's own. Then 0, 2, 3, … workers, each with another prefetch than before.
std::optional<LoaderSettings> settings_of(int run) {
  if (run == 1) return std::nullopt;
  return LoaderSettings{.workers = run == 2 ? 0 : run - 1, .prefetch = run == 2 ? 1 : run + 1};
}

std::vector<std::string> options_of(const std::optional<LoaderSettings>& settings, const core::Graph& graph) {
  std::vector<std::string> options;
  for (const core::Node& node : graph.nodes) {
    if (!settings || node.kind != "loader") continue;
    options.insert(options.end(), {"--set", fmt::format("nodes.{}.with.workers={}", node.name, settings->workers),
                                   "--set", fmt::format("nodes.{}.with.prefetch={}", node.name, settings->prefetch)});
  }
  return options;
}

std::string to_string(const std::optional<LoaderSettings>& settings) {
  if (!settings) return "as configured";
  return fmt::format("{}, prefetch {}", counted(static_cast<std::size_t>(settings->workers), "worker"),
                     settings->prefetch);
}

/// One run against the first.
struct Repetition {
  int run = 0;
  std::size_t checkpoints = 0;
  core::Comparison all;             ///< Of all checkpoints; files are named with their folder.
  std::vector<std::string> faults;  ///< Beside the checkpoints'.

  [[nodiscard]] bool holds() const { return all.equal() && faults.empty(); }
};

std::vector<std::string> checkpoint_names(const ProofRun& run) {
  std::vector<std::string> names;
  for (const core::CheckpointPlace& place : core::list_checkpoints(run.directory / "checkpoints")) {
    names.push_back(place.path.filename().string());
  }
  return names;
}

Repetition compare(int number, const ProofRun& first, const ProofRun& run) {
  Repetition repetition;
  repetition.run = number;
  const std::vector<std::string> names = checkpoint_names(first);
  const std::vector<std::string> others = checkpoint_names(run);
  if (names != others) {
    repetition.faults.push_back(
        fmt::format("it kept {} where the first kept {}", fmt::join(others, ", "), fmt::join(names, ", ")));
    return repetition;
  }
  repetition.checkpoints = names.size();
  for (const std::string& name : names) {
    core::Comparison one =
        core::compare_checkpoints(first.directory / "checkpoints" / name, run.directory / "checkpoints" / name);
    repetition.all.files += one.files;
    repetition.all.bytes += one.bytes;
    if (!one.equal() && repetition.all.equal()) {
      repetition.all.differences = std::move(one.differences);
      repetition.faults.push_back(fmt::format("its checkpoint {} differs", name));
    }
  }
  if (const auto difference = compare_logs(first.directory, run.directory); difference && repetition.holds()) {
    repetition.faults.push_back("its log differs: " + *difference);
  }
  return repetition;
}

/// `brief`: only where, for the table.
std::string result_of(const Repetition& repetition, const core::Graph& graph, bool brief) {
  if (repetition.holds()) return "equal";
  if (repetition.all.equal()) return repetition.faults.front();
  const core::CheckpointDifference& first = nearest_to_cause(repetition.all);
  if (brief) return "differs: " + place_of(first);
  return fmt::format("{}, first {}", repetition.faults.front(),
                     describe(first, graph, "run 1", fmt::format("run {}", repetition.run)));
}

std::string table_of(const std::vector<Repetition>& repetitions, const core::Graph& graph, const Console& console) {
  const Paint paint = console.paint();
  Table table(2);
  table.add({"run", "loaders", "checkpoints", "files", "bytes", "against run 1"});
  table.add({"1", to_string(settings_of(1))});
  for (const Repetition& each : repetitions) {
    table.add({std::to_string(each.run), to_string(settings_of(each.run)), std::to_string(each.checkpoints),
               std::to_string(each.all.files), std::to_string(each.all.bytes), result_of(each, graph, true)});
  }
  table.style(0, [&](std::string_view text) { return paint.bold(text); });
  return table.render(console.width());
}

core::Json to_json(const Repetition& repetition) {
  const LoaderSettings settings = settings_of(repetition.run).value();
  return {{"run", repetition.run},         {"workers", settings.workers},
          {"prefetch", settings.prefetch}, {"checkpoints", repetition.checkpoints},
          {"files", repetition.all.files}, {"bytes", repetition.all.bytes},
          {"equal", repetition.holds()},   {"differences", differences_json(repetition.all)},
          {"faults", repetition.faults}};
}

int verify(const Arguments& arguments, Console& console, const core::Graph& graph, ProofRuns& runs) {
  const int times = read_times(arguments);
  std::vector<Repetition> repetitions;
  const auto run = [&](int number) {
    ProofRun made =
        runs.run(fmt::format("run-{}", number), fmt::format("run {}", number), options_of(settings_of(number), graph));
    if (!arguments.json()) {
      console.complain(fmt::format("run {} ({}): {}\n", number, to_string(settings_of(number)),
                                   counted(static_cast<std::size_t>(made.steps), "step")));
    }
    return made;
  };
  const ProofRun first = run(1);
  for (int number = 2; number <= times; ++number) repetitions.push_back(compare(number, first, run(number)));

  const auto failed = std::ranges::find_if(repetitions, [](const Repetition& each) { return !each.holds(); });
  if (arguments.json()) {
    core::Json result{{"pipeline", arguments.operands().front()},
                      {"equal", failed == repetitions.end()},
                      {"steps", first.steps},
                      {"runs", core::Json::array()}};
    for (const Repetition& each : repetitions) result["runs"].push_back(to_json(each));
    console.print(compact(result) + '\n');
  } else {
    console.print(table_of(repetitions, graph, console));
  }
  if (failed != repetitions.end()) {
    throw Error(ErrorCode::kVerification,
                fmt::format("run {} ({}) is not the same as run 1: {}", failed->run,
                            to_string(settings_of(failed->run)), result_of(*failed, graph, false)));
  }
  if (!arguments.json()) {
    uint64_t bytes = 0;
    for (const Repetition& each : repetitions) bytes += each.all.bytes;
    console.print(fmt::format("{}: {} compared, {} bytes of checkpoints\n",
                              console.paint().green("gives the same bytes each time"),
                              counted(static_cast<std::size_t>(times), "run"), bytes));
  }
  return 0;
}

int verify_repro(const Arguments& arguments, Console& console) {
  static_cast<void>(read_times(arguments));  // a mistake there comes before any other
  return prove(arguments, console,
               [&](const core::Graph& graph, ProofRuns& runs) { return verify(arguments, console, graph, runs); });
}

constexpr Operand kOperands[]{{"PIPE", "the pipeline file (.json, or .jsonc with comments)"}};
constexpr Option kOptions[]{
    {.name = "times", .value = "N", .help = "how many runs (default: 2)"},
    kOverlayOption,
    kSetOption,
    kKeepOption,
    kFormatOption,
};
constexpr ExitCode kExitCodes[]{
    {0, "all runs gave the same bytes"},
    {2, "the pipeline or the command line is wrong; nothing was started"},
    {8, "a run differs; the message names what differs first"},
    {10, "a file cannot be written"},
    {130, "interrupted by Ctrl-C; the running process is ended and nothing is left behind"},
};
constexpr Command kVerifyRepro{
    .name = "verify repro",
    .group = Group::kUnderstand,
    .summary = "prove that a run can be repeated to the byte",
    .purpose =
        "Trains the pipeline several times, each time in a new process: first as configured, then with "
        "other numbers of loader threads and of batches that are kept ready, which must not matter. "
        "Compares every checkpoint that is kept by bytes and the log line by line without its times.\n"
        "Observers, test and exports are left out, and a validation or checkpoint that is due by the clock "
        "comes each epoch instead. Nothing is left behind unless --keep says where. Each run takes as long "
        "as training does: shorten it with --set fit.epochs=2 or an overlay. An error of a run ends the "
        "command with that run's message and exit code.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon verify repro digits.json\n"
        "tenon verify repro digits.json --times 3 --set vars.epochs=2",
    .exit_codes = kExitCodes,
    .run = &verify_repro,
};
TENON_COMMAND(kVerifyRepro);

}  // namespace
}  // namespace tenon::host
