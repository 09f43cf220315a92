// tenon explain: the resolved pipeline, and where each of its values comes from.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/json/pointer.hpp>
#include <core/text/suggest.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/json_text.hpp>
#include <host/meaning.hpp>
#include <host/pipeline.hpp>
#include <host/pipeline_diff.hpp>
#include <host/plugin_examination.hpp>
#include <host/schedule_plot.hpp>
#include <host/table.hpp>
#include <host/tensors.hpp>

namespace tenon::host {
namespace {

using core::Json;

/// Of longer runs every second step is drawn, every third, and so on.
constexpr int64_t kMostPoints = 20'000;

/// Values that stand on a line of their own: whatever has no further structure inside.
void collect_rows(const Json& value, const std::string& pointer, std::vector<std::string>& pointers) {
  const bool flat = !value.is_structured() || value.empty() ||
                    (value.is_array() &&
                     std::none_of(value.begin(), value.end(), [](const Json& item) { return item.is_structured(); }));
  if (flat) {
    pointers.push_back(pointer);
    return;
  }
  for (const auto& [key, member] : value.items()) collect_rows(member, core::child_pointer(pointer, key), pointers);
}

/// What rows are set apart by: top-level values, a section, one node.
std::string block_of(const std::string& pointer) {
  const std::vector<std::string> keys = core::split_pointer(pointer);
  if (keys.size() < 2) return "";
  return keys[0] == "nodes" ? keys[1] : keys[0] + "/";
}

std::string as_json(const core::Resolved& resolved, const core::Catalogue& catalogue, const std::string& pointer,
                    const std::vector<std::string>& rows) {
  Json values = Json::array();
  for (const std::string& row : rows) {
    Json entry{{"pointer", row}, {"value", *resolved.find(row)}, {"origin", origin_json(resolved.origin(row))}};
    if (const std::optional<Meaning> found = meaning(resolved.value(), catalogue, row)) {
      entry["type"] = found->type;
      if (!found->description.empty()) entry["description"] = found->description;
    }
    values.push_back(std::move(entry));
  }
  return pretty({{"pointer", pointer}, {"value", *resolved.find(pointer)}, {"values", std::move(values)}});
}

/// One line a value. With `meanings`, what each of them is stands below it.
std::string as_text(const core::Resolved& resolved, const core::Catalogue& catalogue,
                    const std::vector<std::string>& rows, bool meanings, const Console& console) {
  const Paint paint = console.paint();
  Table table;
  table.limit(0, 48);
  table.limit(1, 32);
  table.style(1, [&](std::string_view text) { return paint.bold(text); });
  table.style(2, [&](std::string_view text) { return paint.dim(text); });
  for (const std::string& row : rows) {
    table.add(
        {row.empty() ? "(all)" : core::dotted_path(row), spaced(*resolved.find(row)), resolved.origin(row).describe()});
  }
  const std::vector<std::string> lines = table.lines();
  const std::size_t width = console.width() > 0 ? console.width() - 4 : 0;
  std::string out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!meanings && i > 0 && block_of(rows[i]) != block_of(rows[i - 1])) out += '\n';
    out += lines[i] + '\n';
    if (!meanings) continue;
    if (const std::optional<Meaning> found = meaning(resolved.value(), catalogue, rows[i])) {
      for (const std::string& line : wrap(to_string(*found), width)) out += fmt::format("    {}\n", line);
    }
  }
  return out;
}

/// A pointer that leads nowhere: the deepest ancestor there is, and what it holds.
core::Diagnostic no_such_value(const core::Resolved& resolved, const std::string& pointer) {
  const std::vector<std::string> path = core::split_pointer(pointer);
  std::string ancestor;
  std::size_t missing = 0;
  while (resolved.find(core::child_pointer(ancestor, path[missing])) != nullptr) {
    ancestor = core::child_pointer(ancestor, path[missing++]);
  }
  core::Diagnostic finding;
  finding.code = "unknown-pointer";
  finding.message = fmt::format("the pipeline has no value at {}", core::quoted(core::dotted_path(pointer)));
  const Json& holder = *resolved.find(ancestor);
  if (!holder.is_structured()) {
    finding.notes.push_back(
        fmt::format("{} is {}, which holds no values", core::dotted_path(ancestor), spaced(holder)));
    return finding;
  }

  std::vector<std::string> keys;
  for (const auto& [key, member] : holder.items()) keys.push_back(key);
  const auto propose = [&](std::string meant) {
    for (std::size_t i = missing + 1; i < path.size(); ++i) meant = core::child_pointer(meant, path[i]);
    finding.label = fmt::format("did you mean {}?", core::quoted(core::dotted_path(meant)));
  };
  if (const std::optional<std::string> near = core::nearest(path[missing], keys)) {
    propose(core::child_pointer(ancestor, *near));
  } else if (const std::string node = core::child_pointer("/nodes", path[missing]);
             ancestor.empty() && resolved.find(node) != nullptr) {
    propose(node);
  }
  finding.notes.push_back(fmt::format("{} has: {}", ancestor.empty() ? "the pipeline" : core::dotted_path(ancestor),
                                      fmt::join(keys, ", ")));
  return finding;
}

/// A dotted path or a pointer as a pointer; the whole pipeline where none is given.
std::string pointer_of(const Arguments& arguments) {
  if (arguments.operands().size() < 2) return "";
  const std::string& given = arguments.operands()[1];
  return given.empty() || given.front() == '/' ? given : core::pointer_from_dotted(given);
}

/// What overlays and --set make of the file.
int explain_changes(const Arguments& arguments, const core::Catalogue& catalogue, const Pipeline& pipeline,
                    Console& console) {
  const std::string& file = arguments.operands().front();
  const std::vector<std::string> words{"--", file};
  const Pipeline alone = read_pipeline(Arguments(arguments.command(), arguments.program(), words), catalogue);
  if (!alone.resolved.usable()) {  // it went between the two readings
    console.report(alone.findings);
    return alone.findings.exit_code();
  }
  const std::string pointer = pointer_of(arguments);
  if (pipeline.resolved.find(pointer) == nullptr && alone.resolved.find(pointer) == nullptr) {
    console.report(no_such_value(pipeline.resolved, pointer));
    return exit_code(ErrorCode::kConfig);
  }
  PipelineDiff diff(alone.resolved, pipeline.resolved);
  diff.keep_below(pointer);
  if (arguments.json()) {
    console.print(pretty({{"pointer", pointer}, {"changes", diff.json()}}));
  } else if (diff.changes().empty()) {
    console.print(fmt::format("nothing differs from {} alone\n", file));
  } else {
    console.print(diff.text(console));
  }
  return pipeline.findings.exit_code();
}

/// A schedule over the planned steps; the only part of this command that opens components.
int explain_schedule(const Arguments& arguments, const core::Catalogue& catalogue, Pipeline pipeline,
                     Console& console) {
  const core::Node schedule = schedule_at(*pipeline.graph, *arguments.value("plot"));
  const int unusable = require_usable_plugins(pipeline, catalogue, console, "nothing is drawn");
  if (unusable != 0) return unusable;
  const OpenedEngine opened = open_engine_for(pipeline.graph->run);
  const engine::ScheduleCurve curve = opened.engine->schedule_curve({.graph = std::move(*pipeline.graph),
                                                                     .resolved = std::move(pipeline.resolved),
                                                                     .catalogue = catalogue,
                                                                     .node = schedule.name,
                                                                     .points = kMostPoints});
  console.print(arguments.json() ? pretty(curve_json(curve, schedule)) : curve_page(curve, schedule, console));
  return 0;
}

void refuse_contradictions(const Arguments& arguments) {
  if (!arguments.has("plot")) return;
  std::vector<std::string> mistakes;
  if (arguments.has("diff")) mistakes.emplace_back("--plot and --diff cannot be combined");
  if (arguments.operands().size() > 1) {
    mistakes.push_back(fmt::format("with --plot there is no POINTER: {}", core::quoted(arguments.operands()[1])));
  }
  if (!mistakes.empty()) throw UsageError(std::move(mistakes), &arguments.command());
}

int explain(const Arguments& arguments, Console& console) {
  refuse_contradictions(arguments);
  const core::Catalogue catalogue = scan_plugins(arguments, console);
  Pipeline pipeline = read_pipeline(arguments, catalogue);
  if (arguments.has("plot")) {
    console.report(pipeline.findings, "nothing is drawn");
    if (!pipeline.graph) return pipeline.findings.exit_code();
    return explain_schedule(arguments, catalogue, std::move(pipeline), console);
  }
  const bool usable = pipeline.resolved.usable();
  console.report(pipeline.findings, usable ? "the pipeline is shown as far as it is understood" : "");
  const int code = pipeline.findings.exit_code();
  if (!usable) return code;
  if (arguments.has("diff")) return explain_changes(arguments, catalogue, pipeline, console);

  const bool whole = arguments.operands().size() < 2;
  const std::string pointer = pointer_of(arguments);
  const Json* const value = pipeline.resolved.find(pointer);
  if (value == nullptr) {
    console.report(no_such_value(pipeline.resolved, pointer));
    return exit_code(ErrorCode::kConfig);
  }
  std::vector<std::string> rows;
  collect_rows(*value, pointer, rows);
  console.print(arguments.json() ? as_json(pipeline.resolved, catalogue, pointer, rows)
                                 : as_text(pipeline.resolved, catalogue, rows, !whole, console));
  return code;
}

constexpr Operand kOperands[]{
    {"PIPE", "the pipeline file"},
    {"POINTER", "this value or what lies below it: nodes.opt.with.lr or /nodes/opt/with/lr", Arity::kOptional},
};
constexpr Option kOptions[]{
    {"diff", "", "only what overlays and --set change against the file alone: before -> after"},
    {"plot", "NODE", "draw what this schedule makes of its value over the planned steps"},
    kOverlayOption,
    kSetOption,
    kLimitOption,
    kOverfitOption,
    kFormatOption,
};
constexpr ExitCode kExitCodes[]{
    {0, "done"},
    {2, "the pipeline has errors (what could be understood is shown), or there is no value at POINTER"},
    {3, "a plugin that the pipeline needs is refused; with --plot: or libtorch cannot be used"},
    {4, "with --plot: data is missing or damaged"},
};
constexpr Command kExplain{
    .name = "explain",
    .group = Group::kUnderstand,
    .summary = "show the resolved pipeline and where each value comes from",
    .purpose =
        "Prints every value that a run would use, one a line: its path, the value, and its origin, which "
        "is the place in a file, a --set, a variable, or the component whose default it is. With "
        "POINTER, the values below it and what each of them means. The paths are those that --set takes. "
        "With --diff only the values that overlays and --set change, add or remove, with both origins. "
        "--plot draws a schedule in characters, with the numbers that a run would use; it alone opens plugins "
        "and libtorch, and asks the data for its size.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon explain digits.json\n"
        "tenon explain digits.json nodes.opt\n"
        "tenon explain digits.json fit.epochs --set vars.epochs=40\n"
        "tenon explain digits.json --overlay larger.json --diff\n"
        "tenon explain digits.json --plot sched\n"
        "tenon explain digits.json --format json | jq .value",
    .exit_codes = kExitCodes,
    .run = &explain,
};
TENON_COMMAND(kExplain);

}  // namespace
}  // namespace tenon::host
