// tenon eval: measures a checkpoint again.
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/storage/canonical_json.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>
#include <host/plugin_examination.hpp>
#include <host/remarks.hpp>
#include <host/run_place.hpp>
#include <host/run_summary.hpp>
#include <host/table.hpp>
#include <host/tensors.hpp>

namespace tenon::host {
namespace {

/// Paths that can be measured: "test", and each validation by its name.
std::vector<std::string> measurable(const core::Graph& graph) {
  std::vector<std::string> names;
  if (graph.test) names.emplace_back("test");
  for (const core::Validation& validation : graph.validations) names.push_back(validation.path.name);
  return names;
}

/// Where nothing is said: what the run tested, else what it validated first.
std::string path_to_measure(const Arguments& arguments, const core::Graph& graph) {
  const std::vector<std::string> names = measurable(graph);
  const std::optional<std::string> on = arguments.value("on");
  if (names.empty()) {
    throw UsageError({"the pipeline of this run has neither a test nor a validation: there is nothing to measure"},
                     &arguments.command());
  }
  if (!on) return names.front();
  if (std::find(names.begin(), names.end(), *on) != names.end()) return *on;
  throw UsageError(
      {fmt::format("the pipeline of this run has no section \"{}\"; there is {}", *on, fmt::join(names, ", "))},
      &arguments.command());
}

int eval(const Arguments& arguments, Console& console) {
  const RunPlace place = find_run_place(arguments.operands().front());
  core::Catalogue catalogue = scan_plugins(arguments, console);
  Pipeline pipeline = read_run_pipeline(place, arguments, catalogue);
  console.report(pipeline.findings, "nothing was measured");
  if (!pipeline.graph) return pipeline.findings.exit_code();
  const std::string path = path_to_measure(arguments, *pipeline.graph);

  const int unusable = require_usable_plugins(pipeline, catalogue, console, "nothing was measured");
  if (unusable != 0) return unusable;
  const OpenedEngine opened = open_engine_for(pipeline.graph->run);
  const engine::EvaluateRequest request{.graph = std::move(*pipeline.graph),
                                        .resolved = std::move(pipeline.resolved),
                                        .catalogue = std::move(catalogue),
                                        .checkpoint = place.checkpoint,
                                        .path = path,
                                        .remark = notes_to(console)};
  const std::map<std::string, double> metrics = opened.engine->evaluate(request);
  if (arguments.json()) {
    core::Json json = {{"format", 1}, {"checkpoint", place.checkpoint.string()}, {"on", path}};
    json["metrics"] = core::Json::object();
    for (const auto& [key, value] : metrics) json["metrics"][key] = core::number_json(value);
    console.print(compact(json) + '\n');
    return 0;
  }
  Table table(2);
  table.style(0, [paint = console.paint()](std::string_view text) { return paint.bold(text); });
  for (const auto& [key, value] : metrics) table.add({key, fmt::format("{}", value)});
  console.print(fmt::format("{} of {}\n{}", path, short_path(place.checkpoint), table.render(console.width())));
  return 0;
}

constexpr Operand kOperands[]{{"RUN|CKPT", "a run directory (its best checkpoint, else its newest), or a checkpoint"}};
constexpr Option kOptions[]{
    {.name = "on",
     .value = "test|validate|NAME",
     .help = "what to measure: test (the default, where there is one), validate,\n"
             "or one of several validations, such as validate.clean"},
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
    {10, "this process may not open as many files at a time as that takes"},
};
constexpr Command kEval{
    .name = "eval",
    .group = Group::kTrain,
    .summary = "compute the metrics of a checkpoint again",
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
