// tenon predict: a checkpoint's models over the data of "predict".
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/input_path.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>
#include <host/plugin_examination.hpp>
#include <host/prediction_files.hpp>
#include <host/remarks.hpp>
#include <host/run_place.hpp>
#include <host/run_summary.hpp>
#include <host/tensors.hpp>

namespace tenon::host {
namespace {

/// A part of the input would be taken for all of it.
void warn_of_parts(const core::Graph& graph, const std::string& input, Console& console) {
  for (const std::string& name : graph.predict->path.stream) {
    const core::Node& node = graph.at(name);
    if (node.kind != "dataset" || node.inputs.empty()) continue;
    console.report(
        core::Severity::kWarning, "partial-input",
        fmt::format("dataset \"{}\" ({}) stands behind {} and may leave rows out: give \"predict\" a dataset of "
                    "its own to get all of them",
                    name, node.use(), input));
  }
}

/// What --input puts in the place of the data of the run's pipeline.
struct Input {
  std::string path;
  core::Graph before;  ///< The pipeline without it.
};

/// Predicts; an error of the dataset that --input could replace, or has given a wrong path, says so.
int64_t rows_of(engine::Engine& engine, const engine::PredictRequest& request, engine::PredictionSink& sink,
                const std::optional<Input>& input) {
  try {
    return engine.predict(request, sink);
  } catch (const engine::PlacedError& error) {
    core::Diagnostic diagnostic = error.diagnostic();
    const std::string head = head_of_predict(request.graph).pointer + "/with/";
    if (error.code() != ErrorCode::kData || !diagnostic.pointer.starts_with(head)) throw;
    if (!input) {
      diagnostic.notes.emplace_back("--input FILE reads another file in its place; --set and --overlay change how");
    } else if (wants_folder(input->before, input->path, diagnostic.message)) {
      diagnostic.notes.push_back(
          fmt::format("--input {} is one file, and {} reads a folder: put the file into a "
                      "folder of its own, and name that",
                      input->path, head_of_predict(request.graph).use()));
    } else {
      throw;
    }
    throw engine::PlacedError(std::move(diagnostic));
  }
}

int predict(const Arguments& arguments, Console& console) {
  const std::string format = arguments.value("format").value_or("jsonl");
  const std::optional<std::string> out = arguments.value("out");
  if (format == "npy" && !out)
    throw UsageError({"--format npy writes a folder: name it with --out"}, &arguments.command());
  for (const char* const option : {"input", "out"}) {
    if (arguments.value(option) != "") continue;
    throw UsageError({fmt::format("--{} needs the path of a file or folder", option)}, &arguments.command());
  }
  const RunPlace place = find_run_place(arguments.operands().front());
  core::Catalogue catalogue = scan_plugins(arguments, console);
  Pipeline pipeline = read_run_pipeline(place, arguments, catalogue);
  std::optional<Input> input;
  if (const std::optional<std::string> path = arguments.value("input"); path && pipeline.graph) {
    const std::vector<std::string> sets = input_sets(*pipeline.graph, *path);
    if (pipeline.graph->predict) input = {*path, *pipeline.graph};
    pipeline = read_run_pipeline(place, arguments, catalogue, sets);
  }
  console.report(pipeline.findings, "nothing was predicted");
  if (!pipeline.graph) return pipeline.findings.exit_code();
  if (!pipeline.graph->predict) {
    throw UsageError({"the pipeline of this run has no section \"predict\"; add one by --overlay, such as "
                      "{ \"predict\": { \"data\": \"LOADER\", \"outputs\": [\"net.logits\"] } }"},
                     &arguments.command());
  }

  if (input) warn_of_parts(*pipeline.graph, input->path, console);
  const int unusable = require_usable_plugins(pipeline, catalogue, console, "nothing was predicted");
  if (unusable != 0) return unusable;
  const OpenedEngine opened = open_engine_for(pipeline.graph->run);
  const engine::PredictRequest request{.graph = std::move(*pipeline.graph),
                                       .resolved = std::move(pipeline.resolved),
                                       .catalogue = std::move(catalogue),
                                       .checkpoint = place.checkpoint,
                                       .remark = notes_to(console)};
  const auto file =
      open_prediction_file(format, out ? std::optional<std::filesystem::path>(*out) : std::nullopt, console);
  const int64_t rows = rows_of(*opened.engine, request, *file, input);
  file->finish();
  if (out) {
    console.complain(fmt::format("{} with the weights of {}: {}\n", counted(static_cast<std::size_t>(rows), "row"),
                                 short_path(place.checkpoint), *out));
  }
  return 0;
}

constexpr Operand kOperands[]{{"RUN|CKPT", "a run directory (its best checkpoint, else its newest), or a checkpoint"}};
constexpr Option kOptions[]{
    {.name = "input",
     .value = "PATH",
     .help = "read this file or folder instead of the one that the first dataset\n"
             "of \"predict\" names"},
    {.name = "out", .value = "FILE", .help = "write there (a folder for npy) instead of to standard output"},
    {.name = "format",
     .value = "jsonl|csv|npy",
     .help = "an object a line (default), a table, or one array for each output;\n"
             "in each of them bytes of a file's name that are no UTF-8 become U+FFFD"},
    kOverlayOption,
    kSetOption,
};
constexpr ExitCode kExitCodes[]{
    {0, "predicted"},
    {2, "the command line is wrong, or the run's pipeline has no \"predict\" or no longer fits"},
    {3, "a plugin or libtorch cannot be used, or a plugin failed"},
    {4, "data is missing or damaged"},
    {6, "out of memory"},
    {9, "no usable checkpoint, or its weights do not fit the model"},
    {10, "a file cannot be written"},
};
constexpr Command kPredict{
    .name = "predict",
    .group = Group::kTrain,
    .summary = "run a checkpoint's models over new data",
    .purpose =
        "Takes the weights of a checkpoint, what its transforms have learned from the training data, and the "
        "pipeline as its run resolved it, and writes the outputs that \"predict\" lists: one row for each sample of "
        "its data, with the sample's index, and with its file where the data are files. Values are in the units of the "
        "data, also where training saw them rescaled; classes have their names where training knew them. Training data "
        "need not be there.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon predict runs/digits/0001 > digits.jsonl\n"
        "tenon predict runs/houses/0003 --input new-houses.csv --format csv --out prices.csv\n"
        "tenon predict runs/digits/0001 --format npy --out predictions",
    .exit_codes = kExitCodes,
    .run = &predict,
};
TENON_COMMAND(kPredict);

}  // namespace
}  // namespace tenon::host
