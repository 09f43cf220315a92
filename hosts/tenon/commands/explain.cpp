// tenon explain: the resolved pipeline, and where each of its values comes from.
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
#include <host/table.hpp>

namespace tenon::host {
namespace {

using core::Json;

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

std::string_view word(core::LayerKind kind) {
  switch (kind) {
    case core::LayerKind::kDefault: return "default";
    case core::LayerKind::kExtends: return "extends";
    case core::LayerKind::kFile: return "file";
    case core::LayerKind::kOverlay: return "overlay";
    case core::LayerKind::kSet: return "set";
  }
  return "";
}

Json place_json(const core::Span& span) {
  const core::Position position = span.position();
  return {{"file", span.source->path()}, {"line", position.line}, {"column", position.column}};
}

Json origin_json(const core::Origin& origin) {
  Json json{{"layer", word(origin.kind)}, {"text", origin.describe()}};
  if (!origin.subject.empty()) json["default_of"] = origin.subject;
  if (origin.value) json["at"] = place_json(origin.value);
  if (!origin.variable.empty()) json["variable"] = origin.variable;
  if (origin.variable_value) json["variable_at"] = place_json(origin.variable_value);
  return json;
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

int explain(const Arguments& arguments, Console& console) {
  const core::Catalogue catalogue = scan_plugins(arguments, console);
  const Pipeline pipeline = read_pipeline(arguments, catalogue);
  const bool usable = pipeline.resolved.usable();
  console.report(pipeline.findings, usable ? "the pipeline is shown as far as it is understood" : "");
  const int code = pipeline.findings.exit_code();
  if (!usable) return code;

  const bool whole = arguments.operands().size() < 2;
  std::string pointer = whole ? "" : arguments.operands()[1];
  if (!pointer.empty() && pointer.front() != '/') pointer = core::pointer_from_dotted(pointer);
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
constexpr Option kOptions[]{kOverlayOption, kSetOption, kFormatOption};
constexpr ExitCode kExitCodes[]{
    {0, "done"},
    {2, "the pipeline has errors (what could be understood is shown), or there is no value at POINTER"},
    {3, "a plugin that the pipeline needs is refused"},
};
constexpr Command kExplain{
    .name = "explain",
    .group = Group::kUnderstand,
    .summary = "show the resolved pipeline and where each value comes from",
    .purpose =
        "Prints every value that a run would use, one a line: its path, the value, and its origin, which "
        "is the place in a file, a --set, a variable, or the component whose default it is. With "
        "POINTER, the values below it and what each of them means. The paths are those that --set takes. "
        "Opens no plugin.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon explain digits.json\n"
        "tenon explain digits.json nodes.opt\n"
        "tenon explain digits.json fit.epochs --set vars.epochs=40\n"
        "tenon explain digits.json --format json | jq .value",
    .exit_codes = kExitCodes,
    .run = &explain,
};
TENON_COMMAND(kExplain);

}  // namespace
}  // namespace tenon::host
