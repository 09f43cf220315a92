// tenon export: the exporters of a pipeline over a checkpoint.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/storage/canonical_json.hpp>
#include <core/storage/file.hpp>
#include <core/text/suggest.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>
#include <host/plugin_examination.hpp>
#include <host/run_place.hpp>
#include <host/run_summary.hpp>
#include <host/signals.hpp>
#include <host/tensors.hpp>

namespace tenon::host {
namespace {

/// Exporter nodes that the command line names, else all that are in the graph.
std::vector<std::string> exporters(const Arguments& arguments, const core::Graph& graph) {
  std::vector<std::string> all;
  for (const core::Node& node : graph.nodes) {
    if (node.kind == "exporter") all.push_back(node.name);
  }
  const std::vector<std::string> named = arguments.values("node");
  for (const std::string& name : named) {
    if (std::find(all.begin(), all.end(), name) != all.end()) continue;
    throw UsageError({fmt::format("--node {}: {}", name,
                                  all.empty() ? std::string("the pipeline of this run has no exporter")
                                              : fmt::format("the exporters are {}", fmt::join(all, ", ")))},
                     &arguments.command());
  }
  if (all.empty()) {
    throw UsageError(
        {"the pipeline of this run has no exporter; add one by --overlay, such as { \"nodes\": { \"script\": "
         "{ \"use\": \"exporter:torchscript\", \"of\": \"net\" } }, \"export\": [\"script\"] }"},
        &arguments.command());
  }
  return named.empty() ? all : named;
}

std::filesystem::path folder_of(const Arguments& arguments, const RunPlace& place) {
  std::filesystem::path folder = arguments.value("out").value_or((place.run / "exports").string());
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw core::storage_error("create", folder, error.value(), core::kOutOption);
  return folder;
}

core::Json outcome_json(const engine::ExportOutcome& exported) {
  return {{"node", exported.node},
          {"file", exported.file.string()},
          {"max_abs_error", core::number_json(exported.max_abs_error)},
          {"batches", exported.batches}};
}

int export_model(const Arguments& arguments, Console& console) {
  RunSignals signals;
  const RunPlace place = find_run_place(arguments.operands().front());
  core::Catalogue catalogue = scan_plugins(arguments, console);
  Pipeline pipeline = read_run_pipeline(place, arguments, catalogue);
  console.report(pipeline.findings, "nothing was exported");
  if (!pipeline.graph) return pipeline.findings.exit_code();
  const std::vector<std::string> nodes = exporters(arguments, *pipeline.graph);
  const std::filesystem::path folder = folder_of(arguments, place);

  const int unusable = require_usable_plugins(pipeline, catalogue, console, "nothing was exported");
  if (unusable != 0) return unusable;
  const OpenedEngine opened = open_engine_for(pipeline.graph->run);
  const engine::ExportRequest request{.graph = std::move(*pipeline.graph),
                                      .resolved = std::move(pipeline.resolved),
                                      .catalogue = std::move(catalogue),
                                      .libtorch = opened.runtime.libtorch(),
                                      .checkpoint = place.checkpoint,
                                      .nodes = nodes,
                                      .folder = folder,
                                      .program = program_file(),
                                      .interruption = &signals.interruption()};
  core::Json list = core::Json::array();
  for (const engine::ExportOutcome& exported : opened.engine->export_checkpoint(request)) {
    list.push_back(outcome_json(exported));
    if (arguments.json()) continue;
    console.print(fmt::format("{}  {}, verified over batches of {}: largest error {:g}\n", exported.node,
                              short_path(exported.file), fmt::join(exported.batches, ", "), exported.max_abs_error));
  }
  if (arguments.json()) {
    console.print(compact({{"format", 1}, {"checkpoint", place.checkpoint.string()}, {"exports", list}}) + '\n');
  }
  if (signals.interruption().signal() != 0 && list.empty()) {
    console.insist("interrupted: no file was left\n");
    return 128 + SIGINT;
  }
  return 0;
}

constexpr Operand kOperands[]{{"RUN|CKPT", "a run directory (its best checkpoint, else its newest), or a checkpoint"}};
constexpr Option kOptions[]{
    {.name = "node", .value = "NAME", .help = "only this exporter node", .repeatable = true},
    {.name = "out", .value = "FOLDER", .help = "where the files go (default: the run's exports)"},
    kOverlayOption,
    kSetOption,
    kFormatOption,
};
constexpr ExitCode kExitCodes[]{
    {0, "exported and verified"},
    {2, "the command line is wrong, or the run's pipeline no longer fits the plugins"},
    {3, "a plugin or libtorch cannot be used, or a plugin failed"},
    {4, "data to verify with is missing or damaged"},
    {6, "out of memory"},
    {8, "an export does not compute what the model computes; no file of its name is left"},
    {9, "no usable checkpoint, or its weights do not fit the model"},
    {10, "a file cannot be written"},
    {130, "interrupted"},
};
constexpr Command kExport{
    .name = "export",
    .group = Group::kTrain,
    .summary = "export a checkpoint's models",
    .purpose =
        "Takes the weights of a checkpoint and the pipeline as its run resolved it, and lets its exporter nodes write "
        "their files, with the same proof as at the end of a run: a file gets its name only once a second process has "
        "loaded it and computed the same as the model, on real samples. A report lies beside each file. --overlay "
        "adds an exporter to a run that had none.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon export runs/digits/0001\n"
        "tenon export runs/digits/0001/checkpoints/step-000425 --node script --out /tmp/models",
    .exit_codes = kExitCodes,
    .run = &export_model,
};
TENON_COMMAND(kExport);

}  // namespace
}  // namespace tenon::host
