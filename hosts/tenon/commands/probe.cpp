// tenon probe: what every module gives for one batch.
#include <filesystem>
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

std::string output_name(const engine::ProbedOutput& row) {
  return row.output.empty() ? row.module : fmt::format("{} ({})", row.module, row.output);
}

/// "in phase critic, as judged": which of several passes gave it; empty where there is but one.
std::string pass_of(const engine::ProbedOutput& row) {
  std::vector<std::string> parts;
  if (!row.phase.empty()) parts.push_back(fmt::format("in phase {}", row.phase));
  if (row.node != row.module.substr(0, row.module.find('.'))) parts.push_back(fmt::format("as {}", row.node));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string shape_of(const FieldSpec& field) {
  FieldSpec nameless = field;
  nameless.name.clear();
  return to_string(nameless);
}

core::Json row_json(const engine::ProbedOutput& row) {
  core::Json shape = core::Json::array();
  for (const Dim& dim : row.field.shape) shape.push_back(dim.size);
  core::Json json{{"node", row.node},
                  {"module", row.module},
                  {"output", row.output},
                  {"dtype", name_of(row.field.dtype)},
                  {"shape", shape},
                  {"mean", core::number_json(row.mean)},
                  {"deviation", core::number_json(row.deviation)},
                  {"min", core::number_json(row.minimum)},
                  {"max", core::number_json(row.maximum)},
                  {"zeros", core::number_json(row.zeros)},
                  {"not_finite", row.not_finite}};
  if (!row.phase.empty()) json["phase"] = row.phase;
  if (row.gradient_norm) json["gradient_norm"] = core::number_json(*row.gradient_norm);
  return json;
}

std::string page(const std::vector<engine::ProbedOutput>& rows, const Console& console) {
  Table table;
  table.add({"module", "output", "mean", "std", "min", "max", "zeros", "gradient"});
  std::vector<std::string> warnings;
  std::string block;
  for (const engine::ProbedOutput& row : rows) {
    const std::string pass = pass_of(row);
    const std::string heading =
        pass.empty() ? "" : fmt::format("{} {}", row.module.substr(0, row.module.find('.')), pass);
    if (heading != block) table.add({heading});
    block = heading;
    const std::string name = pass.empty() ? output_name(row) : fmt::format("{} {}", output_name(row), pass);
    table.add({output_name(row), shape_of(row.field), short_number(row.mean), short_number(row.deviation),
               short_number(row.minimum), short_number(row.maximum), fmt::format("{:.0f} %", 100 * row.zeros),
               row.gradient_norm ? short_number(*row.gradient_norm) : "none"});
    if (row.not_finite > 0) {
      warnings.push_back(fmt::format("{} gives {} that are not finite", name,
                                     counted(static_cast<std::size_t>(row.not_finite), "number")));
    } else if (row.zeros == 1) {
      warnings.push_back(fmt::format("{} gives nothing but zeros", name));
    } else if (row.gradient_norm && *row.gradient_norm == 0) {
      warnings.push_back(fmt::format("no gradient comes to {}: what lies before it does not learn", name));
    }
  }
  std::string text = table.render(console.width());
  for (const std::string& warning : warnings) text += console.paint().yellow(warning) + '\n';
  return text;
}

int probe(const Arguments& arguments, Console& console) {
  core::Catalogue catalogue = scan_plugins(arguments, console);
  Pipeline pipeline = read_pipeline(arguments, catalogue);
  console.report(pipeline.findings, "nothing was started");
  if (!pipeline.graph) return pipeline.findings.exit_code();
  std::optional<std::filesystem::path> checkpoint;
  if (const std::optional<std::string> place = arguments.value("weights")) {
    checkpoint = find_run_place(*place).checkpoint;
  }
  std::vector<std::string> patterns = arguments.values("at");
  if (patterns.empty()) patterns.emplace_back("*");

  const int unusable = require_usable_plugins(pipeline, catalogue, console, "nothing was started");
  if (unusable != 0) return unusable;
  const OpenedEngine opened = open_engine_for(pipeline.graph->run);
  const engine::ProbeRequest request{.graph = std::move(*pipeline.graph),
                                     .resolved = std::move(pipeline.resolved),
                                     .catalogue = std::move(catalogue),
                                     .patterns = patterns,
                                     .checkpoint = checkpoint,
                                     .remark = notes_to(console)};
  const std::vector<engine::ProbedOutput> rows = opened.engine->probe(request);
  if (rows.empty()) {
    throw UsageError({"no module matches --at; without it all are shown"}, &arguments.command());
  }
  if (arguments.json()) {
    for (const engine::ProbedOutput& row : rows) console.print(compact(row_json(row)) + '\n');
  } else {
    console.print(page(rows, console));
  }
  return 0;
}

constexpr Operand kOperands[]{{"PIPE", "the pipeline file (.json, or .jsonc with comments)"}};
constexpr Option kOptions[]{
    {.name = "at",
     .value = "GLOB",
     .help = "modules to show by their full names, such as 'net.conv*';\n"
             "all without it",
     .repeatable = true},
    {.name = "weights", .value = "RUN|CKPT", .help = "look at these weights instead of the first values"},
    kOverlayOption,
    kSetOption,
    kFormatOption,
};
constexpr ExitCode kExitCodes[]{
    {0, "shown"},
    {2, "the pipeline or the command line is wrong"},
    {3, "a plugin or libtorch cannot be used, or a plugin failed"},
    {4, "data is missing or damaged"},
    {6, "out of memory"},
    {9, "no usable checkpoint, or its weights do not fit the model"},
    {10, "this process may not open as many files at a time as that takes"},
};
constexpr Command kProbe{
    .name = "probe",
    .group = Group::kUnderstand,
    .summary = "show what every module of a model gives for one batch",
    .purpose =
        "Takes the first training batch through the models, the loss and back, and shows for each module the type and "
        "shape of what it gives, its mean, standard deviation, extremes and share of zeros, and the norm of the loss's "
        "gradient there. Where a step has phases or a model is called, a line above says whose pass it is. Finds "
        "layers that are dead, explode, or get no gradient before hours are spent on them. "
        "Writes nothing, and no run is touched.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon probe digits.json\n"
        "tenon probe digits.json --at 'net.conv*' --at net.head\n"
        "tenon probe digits.json --weights runs/digits/0001 --format json",
    .exit_codes = kExitCodes,
    .run = &probe,
};
TENON_COMMAND(kProbe);

}  // namespace
}  // namespace tenon::host
