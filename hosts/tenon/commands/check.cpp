// tenon check: every error that manifests can tell.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <core/text/suggest.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>
#include <host/plugin_examination.hpp>
#include <host/shapes_page.hpp>
#include <host/shares.hpp>
#include <host/tensors.hpp>

namespace tenon::host {
namespace {

constexpr int64_t kMostRanks = 1'000'000;

std::optional<int64_t> read_world(const Arguments& arguments) {
  const std::optional<std::string> given = arguments.value("world");
  if (!given) return std::nullopt;
  const std::optional<int64_t> world = whole_number(*given);
  if (world.value_or(0) < 1 || *world > kMostRanks) {
    throw UsageError(
        {fmt::format("--world takes a number of ranks from 1 to {}, not {}", kMostRanks, core::quoted(*given))},
        &arguments.command());
  }
  return world;
}

/// The findings with every warning as an error.
core::Diagnostics strictly(const core::Diagnostics& findings) {
  core::Diagnostics strict;
  for (core::Diagnostic finding : findings.all()) {
    if (finding.severity == core::Severity::kWarning) {
      finding.severity = core::Severity::kError;
      finding.error_code = ErrorCode::kConfig;
    }
    strict.add(std::move(finding));
  }
  return strict;
}

/// What the search for plugins warned of is told already; with --strict it counts.
void count_warnings(const core::Catalogue& catalogue, core::Diagnostics& findings) {
  if (catalogue.warnings().empty()) return;
  core::Diagnostic finding;
  finding.code = "plugin-path";
  finding.message = fmt::format("the search for plugins gave {}", counted(catalogue.warnings().size(), "warning"));
  findings.add(std::move(finding));
}

/// Opens the components; what they refuse joins the findings.
std::optional<engine::PlanReport> plan_shapes(Pipeline& pipeline, const core::Catalogue& catalogue) {
  const OpenedEngine opened = open_engine_for(pipeline.graph->run);
  try {
    return opened.engine->plan({.graph = *pipeline.graph, .resolved = pipeline.resolved, .catalogue = catalogue});
  } catch (const engine::PlacedError& error) {
    pipeline.findings.add(error.diagnostic());
    return std::nullopt;
  }
}

int check(const Arguments& arguments, Console& console) {
  const std::optional<int64_t> world = read_world(arguments);
  const core::Catalogue catalogue = scan_plugins(arguments, console);
  Pipeline pipeline = read_pipeline(arguments, catalogue);
  std::vector<Share> shares;
  if (world && pipeline.graph) {
    shares = shares_of(*pipeline.graph, *world);
    pipeline.findings.append(judge(shares, *world, *pipeline.graph, pipeline.resolved));
    pipeline.findings.sort();
  }
  const bool opens = arguments.has("shapes");
  const core::Diagnostics plugins = examine_plugins(pipeline, catalogue, opens ? Opening::kSoon : Opening::kNone);
  pipeline.findings.append(plugins);
  pipeline.findings.sort();
  std::optional<engine::PlanReport> shapes;
  if (opens && pipeline.graph && !plugins.has_errors()) shapes = plan_shapes(pipeline, catalogue);
  if (arguments.has("strict")) {
    pipeline.findings = strictly(pipeline.findings);
    count_warnings(catalogue, pipeline.findings);
  }
  const core::Diagnostics& findings = pipeline.findings;
  console.report(findings, "nothing was started");
  const std::string& name = arguments.operands().front();
  if (arguments.json()) {
    core::Json summary{{"pipeline", name},
                       {"errors", findings.errors()},
                       {"warnings", findings.warnings()},
                       {"exit_code", findings.exit_code()}};
    if (pipeline.graph) {
      summary["nodes"] = pipeline.graph->nodes.size();
      summary["paths"] = pipeline.graph->paths().size();
      if (world) summary["world"] = shares_json(shares, *world);
      if (shapes) summary["shapes"] = shapes_json(*shapes);
    }
    console.print(compact(summary) + '\n');
  } else if (pipeline.graph && !findings.has_errors()) {
    console.print(fmt::format("{}: {}, {}, no errors\n", name, counted(pipeline.graph->nodes.size(), "node"),
                              counted(pipeline.graph->paths().size(), "path")));
    if (world) console.print(shares_text(shares, *world, console));
    if (shapes) console.print(shapes_page(*shapes, console));
  }
  return findings.exit_code();
}

constexpr Operand kOperands[]{{"PIPE", "the pipeline file (.json, or .jsonc with comments)"}};
constexpr Option kOptions[]{
    {"strict", "", "warnings count as errors"},
    {"shapes", "",
     "also open the components, build the networks without memory and show what\nflows where; reads no data"},
    {"world", "N", "also check that each batch can be shared among N ranks, and say what each gets"},
    kOverlayOption,
    kSetOption,
    kFormatOption,
};
constexpr ExitCode kExitCodes[]{
    {0, "no errors; without --strict there may be warnings"},
    {2, "the pipeline or the command line is wrong, or a file cannot be read"},
    {3, "a plugin that the pipeline needs is refused, or could not be opened"},
    {10, "this process may not open as many files at a time as that takes"},
};
constexpr Command kCheck{
    .name = "check",
    .group = Group::kUnderstand,
    .summary = "report everything that is wrong with a pipeline",
    .purpose =
        "Reads the pipeline with its overlays and settings, checks all keys, values, references and "
        "shapes against what the installed components say of themselves, and reports all mistakes at "
        "once, each with its place and, where one is near, the word that was meant. Also says which of its "
        "plugins could not be opened, and why. Reads no data and, without --shapes, opens no plugin.\n"
        "Mistakes go to standard error, one line of result to standard output. With --format json both "
        "are JSON: one object a line for each mistake, in the shape of rustc's diagnostics, and one "
        "object as the result.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon check digits.json\n"
        "tenon check digits.json --set vars.lr=0.01 --set 'nodes.net.with.dropout=0.2'\n"
        "tenon check digits.json --overlay larger.json --format json\n"
        "tenon check digits.json --strict --world 4",
    .exit_codes = kExitCodes,
    .run = &check,
};
TENON_COMMAND(kCheck);

}  // namespace
}  // namespace tenon::host
