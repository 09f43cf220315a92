// tenon eval: measures a checkpoint again.
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <core/storage/canonical_json.hpp>
#include <core/storage/checkpoint.hpp>
#include <core/storage/checkpoint_index.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>
#include <host/run_summary.hpp>
#include <host/table.hpp>
#include <host/tensors.hpp>

namespace tenon::host {
namespace {

constexpr const char* kConfig = "config.resolved.json";

/// A checkpoint of a run.
struct Place {
  std::filesystem::path run;
  std::filesystem::path checkpoint;
};

/// The folder's own name is needed, also of "runs/digits/0001/" and ".".
std::filesystem::path named(const std::string& text) {
  std::filesystem::path path = std::filesystem::absolute(text).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

/// The best checkpoint of a run where one is known, else the newest that verifies.
std::filesystem::path checkpoint_of(const std::filesystem::path& run) {
  const std::filesystem::path folder = run / "checkpoints";
  const core::CheckpointIndex index = core::CheckpointIndex::load(folder);
  if (index.best) return folder / core::step_name(*index.best);
  std::vector<std::string> damaged;
  const std::optional<core::Checkpoint> newest = core::newest_checkpoint(folder, damaged);
  if (newest) return newest->path();
  throw Error(ErrorCode::kCheckpoint, fmt::format("the run {} has no checkpoint that can be used{}{}", run.string(),
                                                  damaged.empty() ? "" : ": ", damaged.empty() ? "" : damaged.front()));
}

Place find_place(const std::string& text) {
  const std::filesystem::path path = named(text);
  if (std::filesystem::exists(path / kConfig)) return {path, checkpoint_of(path)};
  const std::filesystem::path run = path.parent_path().parent_path();
  if (core::step_of(path.filename().string()) && std::filesystem::exists(run / kConfig)) return {run, path};
  throw Error(ErrorCode::kCheckpoint,
              fmt::format("{} is neither a run directory (runs/NAME/NUMBER) nor a checkpoint of one "
                          "(runs/NAME/NUMBER/checkpoints/step-NNNNNN)",
                          text));
}

/// Where nothing is said: what the run tested, else what it validated.
bool measures_test(const Arguments& arguments, const core::Graph& graph) {
  const std::optional<std::string> on = arguments.value("on");
  const bool test = on ? *on == "test" : graph.test.has_value();
  if (test ? graph.test.has_value() : graph.validate.has_value()) return test;
  throw UsageError({fmt::format("the pipeline of this run has no section \"{}\"{}", test ? "test" : "validate",
                                on ? "" : " either; there is nothing to measure")},
                   &arguments.command());
}

int eval(const Arguments& arguments, Console& console) {
  const Place place = find_place(arguments.operands().front());
  core::Catalogue catalogue = scan_plugins(arguments, console);
  Pipeline pipeline = read_pipeline(place.run / kConfig, arguments, catalogue);
  console.report(pipeline.findings, "nothing was measured");
  if (!pipeline.graph) return pipeline.findings.exit_code();
  const bool test = measures_test(arguments, *pipeline.graph);

  const OpenedEngine opened = open_engine_for(pipeline.graph->run);
  const engine::EvaluateRequest request{.graph = std::move(*pipeline.graph),
                                        .resolved = std::move(pipeline.resolved),
                                        .catalogue = std::move(catalogue),
                                        .checkpoint = place.checkpoint,
                                        .test = test};
  const std::map<std::string, double> metrics = opened.engine->evaluate(request);
  if (arguments.json()) {
    core::Json json = {{"format", 1}, {"checkpoint", place.checkpoint.string()}, {"on", test ? "test" : "validate"}};
    json["metrics"] = core::Json::object();
    for (const auto& [key, value] : metrics) json["metrics"][key] = core::number_json(value);
    console.print(compact(json) + '\n');
    return 0;
  }
  Table table(2);
  table.style(0, [paint = console.paint()](std::string_view text) { return paint.bold(text); });
  for (const auto& [key, value] : metrics) table.add({key, fmt::format("{}", value)});
  console.print(fmt::format("{} of {}\n{}", test ? "test" : "validation", short_path(place.checkpoint),
                            table.render(console.width())));
  return 0;
}

constexpr Operand kOperands[]{{"RUN|CKPT", "a run directory (its best checkpoint, else its newest), or a checkpoint"}};
constexpr Option kOptions[]{
    {.name = "on", .value = "test|validate", .help = "which section to measure (default: test, where there is one)"},
    kOverlayOption,
    kSetOption,
    kFormatOption,
};
constexpr ExitCode kExitCodes[]{
    {0, "measured"},
    {2, "the command line is wrong, or the run's pipeline no longer fits the plugins"},
    {3, "a plugin or libtorch cannot be used, or a plugin failed"},
    {4, "data is missing or damaged"},
    {6, "out of memory"},
    {9, "no usable checkpoint, or its weights do not fit the model"},
};
constexpr Command kEval{
    .name = "eval",
    .group = Group::kTrain,
    .summary = "measure a checkpoint again",
    .purpose =
        "Takes the weights of a checkpoint and the pipeline as its run resolved it (config.resolved.json), runs "
        "the data of \"test\" or \"validate\" through the models and prints the metrics with all their digits: on "
        "the same machine the very numbers of the run. Changes nothing. --overlay and --set change the pipeline, "
        "to measure on other data.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon eval runs/digits/0001\n"
        "tenon eval runs/digits/0001/checkpoints/step-000425 --on validate\n"
        "tenon eval runs/digits/0001 --format json",
    .exit_codes = kExitCodes,
    .run = &eval,
};
TENON_COMMAND(kEval);

}  // namespace
}  // namespace tenon::host
