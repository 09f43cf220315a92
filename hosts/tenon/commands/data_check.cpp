// tenon data check: reads everything once.
#include <cstdint>
#include <string>
#include <utility>

#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/data_page.hpp>
#include <host/data_paths.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>
#include <host/plugin_examination.hpp>
#include <host/progress_line.hpp>
#include <host/remarks.hpp>
#include <host/tensors.hpp>

namespace tenon::host {
namespace {

constexpr int64_t kMostThreads = 256;

int verdict(const engine::DataReport& report, bool strict) {
  const bool wrong = report.has(core::Severity::kError) || (strict && report.has(core::Severity::kWarning));
  return wrong ? exit_code(ErrorCode::kData) : 0;
}

int data_check(const Arguments& arguments, Console& console) {
  const int64_t most = arguments.whole_value("samples", 0, 1, int64_t{1} << 40);
  const int64_t threads = arguments.whole_value("workers", 0, 1, kMostThreads);
  core::Catalogue catalogue = scan_plugins(arguments, console);
  Pipeline pipeline = read_pipeline(arguments, catalogue);
  console.report(pipeline.findings, "nothing was read");
  if (!pipeline.graph) return pipeline.findings.exit_code();
  const std::vector<std::string> paths = chosen_paths(arguments, *pipeline.graph);

  const int unusable = require_usable_plugins(pipeline, catalogue, console, "nothing was read");
  if (unusable != 0) return unusable;
  const OpenedEngine opened = open_engine_for(pipeline.graph->run);
  ProgressLine line;
  const engine::DataCheckRequest request{.graph = std::move(*pipeline.graph),
                                         .resolved = std::move(pipeline.resolved),
                                         .catalogue = std::move(catalogue),
                                         .paths = paths,
                                         .most = most,
                                         .threads = static_cast<int>(threads),
                                         .progress = [&](const std::string& path, int64_t done,
                                                         int64_t total) { line.show(spoken_path(path), done, total); },
                                         .remark = notes_to(console)};
  const engine::DataReport report = opened.engine->check_data(request);
  line.clear();
  const int code = verdict(report, arguments.has("strict"));
  if (arguments.json()) {
    console.print(pretty(data_json(report, arguments.operands().front(), code)));
  } else {
    console.print(data_page(report, console));
  }
  return code;
}

constexpr Operand kOperands[]{{"PIPE", "the pipeline file (.json, or .jsonc with comments)"}};
constexpr Option kOptions[]{
    {.name = "on",
     .value = "train|validate|test|predict|NAME",
     .help = "read the data of this part alone, such as validate.clean; all without it",
     .repeatable = true},
    {.name = "samples", .value = "N", .help = "read at most N samples of each part, from all over it: a quick look"},
    {.name = "workers",
     .value = "N",
     .help = "threads that read; without it as many as there are cores to use; the same report for any"},
    {.name = "strict", .value = {}, .help = "warnings count as errors"},
    kOverlayOption,
    kSetOption,
    kFormatOption,
};
constexpr ExitCode kExitCodes[]{
    {0, "nothing is wrong; without --strict there may be warnings"},
    {2, "the pipeline or the command line is wrong"},
    {3, "a plugin or libtorch cannot be used, or a plugin failed"},
    {4,
     "samples cannot be read, or one takes longer than \"sample_timeout\"; labels are out of range, or data is "
     "missing;\n"
     "with --strict also warnings"},
    {6, "out of memory"},
    {10, "this process may not open as many files at a time as that takes"},
};
constexpr Command kDataCheck{
    .name = "data check",
    .group = Group::kUnderstand,
    .summary = "read all data once and say what is wrong with it",
    .purpose =
        "Reads every sample of training, validations, test and predict once, on all cores, and reports samples that "
        "cannot be read or transformed; classes, how often they occur, which are missing in a part, and labels that "
        "the model has no class for; sizes that do not go into one batch; samples of training that are also in "
        "validation or test, by content; columns that are constant or not finite; the scale of targets; and mean and "
        "deviation of images' channels, to be written into a transform that normalises.\n"
        "Sizes, columns and equal samples are those of the dataset itself. Classes, labels and targets are as "
        "validation would see them: behind all transforms but the random ones. Transforms that learn from data "
        "do so first. No run is touched.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon data check digits.json\n"
        "tenon data check digits.json --on train --samples 1000\n"
        "tenon data check digits.json --strict --format json",
    .exit_codes = kExitCodes,
    .run = &data_check,
};
TENON_COMMAND(kDataCheck);

}  // namespace
}  // namespace tenon::host
