// tenon run: trains, validates, checkpoints, tests and exports what a pipeline describes.
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <core/plugin/refusal.hpp>
#include <core/storage/atomic_file.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/json_text.hpp>
#include <host/locking.hpp>
#include <host/log_options.hpp>
#include <host/next_steps.hpp>
#include <host/pipeline.hpp>
#include <host/plugin_examination.hpp>
#include <host/resuming.hpp>
#include <host/run_summary.hpp>
#include <host/signals.hpp>
#include <host/tensors.hpp>

namespace tenon::host {
namespace {

std::optional<int64_t> step_to_interrupt_at(const Arguments& arguments) {
  const std::optional<std::string> text = arguments.value("interrupt-at");
  if (!text) return std::nullopt;
  const std::optional<int64_t> step = whole_number(*text);
  if (step.value_or(0) < 1) {
    throw UsageError({fmt::format("--interrupt-at takes a step from 1 on, not \"{}\"", *text)}, &arguments.command());
  }
  return step;
}

/// Found at the start, not when all is trained.
void require_folder_of(const Arguments& arguments, std::string_view option) {
  const std::optional<std::string> file = arguments.value(option);
  if (!file) return;
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::absolute(*file, ignored).parent_path();
  if (std::filesystem::is_directory(folder, ignored) && ::access(folder.c_str(), W_OK) == 0) return;
  throw Error(ErrorCode::kStorage,
              fmt::format("--{} {}: the folder {} cannot be written", option, *file, folder.string()));
}

int end_of(const engine::RunOutcome& outcome) {
  constexpr int kRunMeAgain = 75;  // sysexits.h: EX_TEMPFAIL
  return outcome.interrupted == SIGINT ? 128 + SIGINT : kRunMeAgain;
}

int run(const Arguments& arguments, Console& console) {
  // Whoever reads the progress may leave: writing to nobody is an error of that write, not the end of a training.
  std::signal(SIGPIPE, SIG_IGN);
  apply_log_options(arguments, console);
  // From the first moment on: what comes before the first step ends as politely as what comes later.
  RunSignals signals;
  const std::optional<int64_t> interrupt_at = step_to_interrupt_at(arguments);
  require_folder_of(arguments, "outcome");
  core::Catalogue catalogue = scan_plugins(arguments, console);
  const bool may_resume = arguments.value("resume").value_or("never") != "never";
  // A run that goes on takes its values from the checkpoint.
  Pipeline pipeline = read_pipeline(arguments, catalogue, {.first_values = !may_resume});
  console.report(pipeline.findings, "nothing was started");
  if (!pipeline.graph) return pipeline.findings.exit_code();
  direct_observers(arguments, pipeline.resolved, *pipeline.graph);

  require_locked(arguments, *pipeline.graph, catalogue);
  Resuming resuming = find_resuming(arguments, *pipeline.graph, pipeline.resolved, console);
  if (may_resume && resuming.point == nullptr) {
    Pipeline fresh = read_pipeline(arguments, catalogue);
    if (!fresh.graph) {
      console.report(fresh.findings, "nothing was started");
      return fresh.findings.exit_code();
    }
  }
  const int unusable = require_usable_plugins(pipeline, catalogue, console, "nothing was started");
  if (unusable != 0) return unusable;
  const OpenedEngine opened = open_engine_for(pipeline.graph->run);
  const engine::RunRequest request{.graph = std::move(*pipeline.graph),
                                   .resolved = std::move(pipeline.resolved),
                                   .catalogue = std::move(catalogue),
                                   .libtorch = opened.runtime.libtorch(),
                                   .environment = opened.runtime.environment(),
                                   .program = program_file(),
                                   .resume = std::move(resuming.point),
                                   .accepted = std::move(resuming.accepted),
                                   .begin_anew = std::move(resuming.begin_anew),
                                   .interruption = &signals.interruption(),
                                   .interrupt_at = interrupt_at,
                                   .preflight = !arguments.has("no-preflight")};
  const engine::RunOutcome outcome = opened.engine->run(request);

  if (const std::optional<std::string> file = arguments.value("outcome")) {
    core::write_atomically(*file, pretty(outcome_json(outcome)), "--outcome");
  }
  if (outcome.interrupted != 0) {
    console.insist(interruption_notice(outcome, arguments));
    return end_of(outcome);
  }
  console.print(result_table(request.graph, outcome, console));
  if (!arguments.has("quiet")) console.print(next_steps(request, outcome, arguments, console));
  return 0;
}

constexpr Operand kOperands[]{{"PIPE", "the pipeline file (.json, or .jsonc with comments)"}};
constexpr Option kOptions[]{
    kOverlayOption,
    kSetOption,
    kResumeOption,
    kAcceptOption,
    kQuietOption,
    kLogFormatOption,
    kLimitOption,
    kOverfitOption,
    kLockedOption,
    {.name = "no-preflight", .value = {}, .help = "do not try every stage once before the first step"},
    {.name = "interrupt-at", .value = "STEP", .help = "as if SIGTERM came in that step, to try --resume"},
    {.name = "outcome", .value = "FILE", .help = "write the results also as JSON, for programs"},
};
constexpr ExitCode kExitCodes[]{
    {0, "trained, tested and exported as the pipeline says"},
    {2, "the pipeline or the command line is wrong; nothing was started"},
    {3, "a plugin or libtorch cannot be used, or a plugin failed or crashed (RUN/crash.json tells where)"},
    {4, "data is missing or damaged"},
    {5, "the loss or a gradient is no longer finite"},
    {6, "out of memory"},
    {8, "an export does not compute what the model computes; no file of its name is left"},
    {9, "no usable checkpoint"},
    {10,
     "a file cannot be written or opened, the run's directory was removed or moved meanwhile, or another process has "
     "the run that was to go on"},
    {75, "interrupted by SIGTERM, SIGUSR1 or SIGHUP, and saved: run again with --resume auto"},
    {130, "interrupted by SIGINT, and saved"},
};
constexpr Command kRun{
    .name = "run",
    .group = Group::kTrain,
    .summary = "train, validate, checkpoint, test and export",
    .purpose =
        "Checks the pipeline as tenon check does, and starts only when there is no error. Everything "
        "that the run produces goes to a new directory, runs/NAME/NUMBER unless run.dir says otherwise: "
        "the resolved configuration, the log, checkpoints (.safetensors) and exports. An export gets its "
        "name only once a second process has loaded it and computed the same as the model. Progress and "
        "errors go to standard error, the table of results to standard output.\n"
        "At the first SIGTERM, SIGINT (Ctrl-C), SIGUSR1 or SIGHUP the step that is being made ends, a checkpoint is "
        "written and the command ends; at the second one it ends at once. A run that goes on gives the very "
        "bytes of one that was never interrupted, as tenon verify resume proves; what has changed in the "
        "pipeline since then is told, and refused where training would not be what it was.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon run digits.json\n"
        "tenon run digits.json --resume auto\n"
        "tenon run digits.json --set vars.epochs=40 --set run.seed=11\n"
        "tenon run digits.json --overlay larger.json --plugin-path ~/my-plugins",
    .exit_codes = kExitCodes,
    .run = &run,
};
TENON_COMMAND(kRun);

}  // namespace
}  // namespace tenon::host
