// tenon check: every error that manifests can tell.
#include <fmt/format.h>

#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/pipeline.hpp>

namespace tenon::host {
namespace {

int check(const Arguments& arguments, Console& console) {
  const core::Catalogue catalogue = scan_plugins(arguments, console);
  const Pipeline pipeline = read_pipeline(arguments, catalogue);
  console.report(pipeline.findings, "nothing was started");
  const int code = pipeline.findings.exit_code();
  const std::string& name = arguments.operands().front();
  if (arguments.json()) {
    core::Json summary{{"pipeline", name},
                       {"errors", pipeline.findings.errors()},
                       {"warnings", pipeline.findings.warnings()},
                       {"exit_code", code}};
    if (pipeline.graph) {
      summary["nodes"] = pipeline.graph->nodes.size();
      summary["paths"] = count_paths(*pipeline.graph);
    }
    console.print(summary.dump(-1, ' ', false, core::Json::error_handler_t::replace) + '\n');
  } else if (pipeline.graph) {
    console.print(fmt::format("{}: {}, {}, no errors\n", name, counted(pipeline.graph->nodes.size(), "node"),
                              counted(count_paths(*pipeline.graph), "path")));
  }
  return code;
}

constexpr Operand kOperands[]{{"PIPE", "the pipeline file (.json, or .jsonc with comments)"}};
constexpr Option kOptions[]{kOverlayOption, kSetOption, kFormatOption};
constexpr ExitCode kExitCodes[]{
    {0, "no errors; there may be warnings"},
    {2, "the pipeline or the command line is wrong, or a file cannot be read"},
    {3, "a plugin that the pipeline needs is refused"},
};
constexpr Command kCheck{
    .name = "check",
    .group = Group::kUnderstand,
    .summary = "report everything that is wrong with a pipeline",
    .purpose =
        "Reads the pipeline with its overlays and settings, checks all keys, values, references and "
        "shapes against what the installed components say of themselves, and reports all mistakes at "
        "once, each with its place and, where one is near, the word that was meant. Opens no plugin and "
        "reads no data.\n"
        "Mistakes go to standard error, one line of result to standard output. With --format json both "
        "are JSON: one object a line for each mistake, in the shape of rustc's diagnostics, and one "
        "object as the result.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon check digits.json\n"
        "tenon check digits.json --set vars.lr=0.01 --set 'nodes.net.with.dropout=0.2'\n"
        "tenon check digits.json --overlay larger.json --format json",
    .exit_codes = kExitCodes,
    .run = &check,
};
TENON_COMMAND(kCheck);

}  // namespace
}  // namespace tenon::host
