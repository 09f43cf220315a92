// tenon run: trains, validates, checkpoints, tests and exports what a pipeline describes.
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include <core/plugin/refusal.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/pipeline.hpp>
#include <host/run_summary.hpp>
#include <host/tensors.hpp>

namespace tenon::host {
namespace {

core::RuntimeRequest runtime_request(const core::RunSettings& run) {
  core::RuntimeRequest request;
  request.threads = run.threads.value_or(0);
  request.strict = run.determinism == "strict";
  request.ieee = run.float32 == "ieee";
  // Without a driver the engine refuses "cuda" at its place in the pipeline; a libtorch without CUDA matters only to "cuda".
  request.cuda = run.device == "cuda" ? core::has_nvidia_driver() : run.device == "auto" && can_use_cuda();
  return request;
}

/// A GPU that cannot be used stops a run that did not insist on it, but the way out is told.
OpenedEngine open_engine_for(const core::RunSettings& run) {
  const core::RuntimeRequest request = runtime_request(run);
  try {
    return open_engine(request);
  } catch (const core::Refusal& refusal) {
    if (!request.cuda || run.device != "auto") throw;
    throw core::Refusal(refusal.reason(),
                        fmt::format("{}; to train on the CPU instead: --set run.device='\"cpu\"'", refusal.what()));
  }
}

int run(const Arguments& arguments, Console& console) {
  core::Catalogue catalogue = scan_plugins(arguments, console);
  Pipeline pipeline = read_pipeline(arguments, catalogue);
  console.report(pipeline.findings, "nothing was started");
  if (!pipeline.graph) return pipeline.findings.exit_code();

  // Whoever reads the progress may leave: writing to nobody is an error of that write, not the end of a training.
  std::signal(SIGPIPE, SIG_IGN);
  const OpenedEngine opened = open_engine_for(pipeline.graph->run);
  const engine::RunRequest request{.graph = std::move(*pipeline.graph),
                                   .resolved = std::move(pipeline.resolved),
                                   .catalogue = std::move(catalogue),
                                   .libtorch = opened.runtime.libtorch(),
                                   .environment = opened.runtime.environment(),
                                   .program = program_file()};
  const engine::RunOutcome outcome = opened.engine->run(request);

  console.print(result_table(request.graph, outcome, console));
  console.print(next_steps(request, outcome, arguments, console));
  return 0;
}

constexpr Operand kOperands[]{{"PIPE", "the pipeline file (.json, or .jsonc with comments)"}};
constexpr Option kOptions[]{kOverlayOption, kSetOption};
constexpr ExitCode kExitCodes[]{
    {0, "trained, tested and exported as the pipeline says"},
    {2, "the pipeline or the command line is wrong; nothing was started"},
    {3, "a plugin or libtorch cannot be used, or a plugin failed"},
    {4, "data is missing or damaged"},
    {5, "the loss or a gradient is no longer finite"},
    {6, "out of memory"},
    {8, "an export does not compute what the model computes; no file of its name is left"},
    {9, "no usable checkpoint"},
    {10, "a file cannot be written"},
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
        "errors go to standard error, the table of results to standard output.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon run digits.json\n"
        "tenon run digits.json --set vars.epochs=40 --set run.seed=11\n"
        "tenon run digits.json --overlay larger.json --plugin-path ~/my-plugins",
    .exit_codes = kExitCodes,
    .run = &run,
};
TENON_COMMAND(kRun);

}  // namespace
}  // namespace tenon::host
