// tenon diff: what differs between two pipelines, two runs or two checkpoints.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/storage/checkpoint.hpp>
#include <core/storage/checkpoint_compare.hpp>
#include <core/storage/checkpoint_files.hpp>
#include <core/text/suggest.hpp>
#include <host/arguments.hpp>
#include <host/checkpoint_page.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/differences.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>
#include <host/pipeline_diff.hpp>
#include <host/run_diff.hpp>
#include <host/table.hpp>

namespace tenon::host {
namespace {

namespace fs = std::filesystem;

using core::Json;

enum class Sort { kPipeline, kRun, kCheckpoint };

std::string_view name_of(Sort sort) {
  switch (sort) {
    case Sort::kPipeline: return "a pipeline file";
    case Sort::kRun: return "a run directory";
    case Sort::kCheckpoint: return "a checkpoint";
  }
  return "";
}

std::string_view word(Sort sort) {
  switch (sort) {
    case Sort::kPipeline: return "pipelines";
    case Sort::kRun: return "runs";
    case Sort::kCheckpoint: return "checkpoints";
  }
  return "";
}

/// One of the two operands.
struct Side {
  std::string given;
  fs::path path;  ///< Without a slash at its end.
  Sort sort = Sort::kPipeline;
};

Side recognize(const std::string& given) {
  Side side{given, fs::path(given).lexically_normal(), Sort::kPipeline};
  if (!side.path.has_filename()) side.path = side.path.parent_path();
  std::error_code ignored;
  if (!fs::exists(side.path, ignored)) {
    throw Error(ErrorCode::kConfig, fmt::format("{} does not exist", core::quoted(given, given.size())));
  }
  if (!fs::is_directory(side.path, ignored)) return side;
  const auto has = [&](std::string_view file) { return fs::exists(side.path / file, ignored); };
  if (core::step_of(fs::absolute(side.path).filename().string()) || has("manifest.json")) {
    side.sort = Sort::kCheckpoint;
  } else if (has(".lock") || has("log.jsonl") || has("config.resolved.json")) {
    side.sort = Sort::kRun;
  } else {
    throw Error(ErrorCode::kConfig, fmt::format("{} is neither a run directory (runs/NAME/NUMBER) nor a checkpoint "
                                                "(runs/NAME/NUMBER/checkpoints/step-NNNNNN)",
                                                core::quoted(given, given.size())));
  }
  return side;
}

/// The last line of every text.
std::string verdict(bool equal, const std::string& what) {
  return equal ? fmt::format("equal{}{}\n", what.empty() ? "" : ": ", what) : fmt::format("different: {}\n", what);
}

std::string counted_differences(std::size_t count) { return counted(count, "difference"); }

Json envelope(Sort sort, const Side& a, const Side& b, bool equal) {
  return {{"kind", word(sort)}, {"a", a.given}, {"b", b.given}, {"equal", equal}};
}

int diff_pipelines(const Side& a, const Side& b, const Arguments& arguments, Console& console) {
  const core::Catalogue catalogue = scan_plugins(arguments, console);
  const Pipeline one = read_pipeline(a.path, arguments, catalogue);
  const Pipeline other = read_pipeline(b.path, arguments, catalogue);
  const bool usable = one.resolved.usable() && other.resolved.usable();
  core::Diagnostics findings = one.findings;
  findings.append(other.findings);
  console.report(findings, usable ? "the pipelines are compared as far as they are understood" : "");
  if (!usable) return findings.exit_code();
  const PipelineDiff diff(one.resolved, other.resolved);
  const bool equal = diff.changes().empty();
  if (arguments.json()) {
    Json json = envelope(Sort::kPipeline, a, b, equal);
    json["differences"] = diff.json();
    console.print(pretty(json));
  } else {
    console.print(diff.text(console) + verdict(equal, equal ? "" : counted_differences(diff.changes().size())));
  }
  return findings.exit_code();
}

int diff_runs(const Side& a, const Side& b, const Arguments& arguments, Console& console) {
  const RunRecord one = read_run_record(a.path);
  const RunRecord other = read_run_record(b.path);
  const RunDiff diff(one, other);
  if (arguments.json()) {
    Json json = envelope(Sort::kRun, a, b, diff.equal());
    json.update(diff.json());
    console.print(pretty(json));
  } else {
    console.print(diff.text(console) + '\n' + verdict(diff.equal(), diff.summary()));
  }
  return 0;
}

/// A damaged checkpoint can be compared; that it is damaged must be known.
void warn_of_damage(const Side& side, Console& console) {
  std::vector<std::string> problems;
  try {
    for (const core::CheckedFile& file : core::check_files(side.path)) {
      if (!file.problem.empty()) problems.push_back(fmt::format("{}: {}", file.listed.name, file.problem));
    }
  } catch (const Error& error) {
    problems.emplace_back(error.what());
  }
  if (problems.empty()) return;
  console.report(core::Severity::kWarning, "",
                 fmt::format("the checkpoint {} is damaged: {}", side.given, fmt::join(problems, "; ")));
}

std::string checkpoint_text(const core::Comparison& comparison, const Console& console) {
  Table table(2);
  table.limit(0, 56);
  std::string out;
  std::string_view file;
  const auto flush = [&] {
    if (!table.empty()) out += fmt::format("{}\n{}", console.paint().bold(file), table.render(console.width()));
    table = Table(2);
    table.limit(0, 56);
  };
  for (const core::CheckpointDifference& each : comparison.differences) {
    if (each.file != file) flush();
    file = each.file;
    std::string what = each.what;
    if (what.starts_with("missing in ")) what = fmt::format("only in {}", what.ends_with("A") ? "B" : "A");
    if (each.entry.empty()) {
      table.add({what});
    } else {
      table.add({each.entry, what});
    }
  }
  flush();
  return out;
}

std::string checkpoint_summary(const core::Comparison& comparison) {
  if (comparison.equal()) {
    return fmt::format("{}, {}", counted(comparison.files, "file"), bytes_text(comparison.bytes));
  }
  const auto largest = std::ranges::max_element(comparison.differences, {}, &core::CheckpointDifference::max_abs);
  std::string text = counted_differences(comparison.differences.size());
  if (largest->max_abs > 0) text += fmt::format(", the largest {} ({})", largest->max_abs, place_of(*largest));
  return text;
}

int diff_checkpoints(const Side& a, const Side& b, const Arguments& arguments, Console& console) {
  core::Comparison comparison = core::compare_checkpoints(a.path, b.path);
  warn_of_damage(a, console);
  warn_of_damage(b, console);
  if (arguments.json()) {
    Json json = envelope(Sort::kCheckpoint, a, b, comparison.equal());
    json["files"] = comparison.files;
    json["bytes"] = comparison.bytes;
    json["differences"] = differences_json(comparison);
    console.print(pretty(json));
    return 0;
  }
  // The manifest differs wherever a file does: its hashes would only repeat that.
  const auto repeats = [](const core::CheckpointDifference& each) { return each.file == "manifest.json"; };
  if (!std::ranges::all_of(comparison.differences, repeats)) std::erase_if(comparison.differences, repeats);
  console.print(checkpoint_text(comparison, console) + verdict(comparison.equal(), checkpoint_summary(comparison)));
  return 0;
}

int diff(const Arguments& arguments, Console& console) {
  const Side a = recognize(arguments.operands()[0]);
  const Side b = recognize(arguments.operands()[1]);
  if (a.sort != b.sort) {
    throw Error(ErrorCode::kConfig, fmt::format("A and B must be of one sort, but {} is {} and {} is {}{}", a.given,
                                                name_of(a.sort), b.given, name_of(b.sort),
                                                a.sort == Sort::kPipeline || b.sort == Sort::kPipeline
                                                    ? "; what a run was made of is its config.resolved.json"
                                                    : ""));
  }
  switch (a.sort) {
    case Sort::kPipeline: return diff_pipelines(a, b, arguments, console);
    case Sort::kRun: return diff_runs(a, b, arguments, console);
    case Sort::kCheckpoint: return diff_checkpoints(a, b, arguments, console);
  }
  return 0;
}

constexpr Operand kOperands[]{
    {"A", "a pipeline file, a run directory or a checkpoint"},
    {"B", "another of the same sort"},
};
constexpr Option kOptions[]{kFormatOption};
constexpr ExitCode kExitCodes[]{
    {0, "compared, whether equal or not"},
    {2, "A or B is not there or is none of the three, they are of two sorts, or a pipeline has errors"},
    {3, "a plugin that a pipeline needs is refused"},
    {9, "a file of a run is damaged, or a checkpoint cannot be read"},
    {10, "a log cannot be read"},
};
constexpr Command kDiff{
    .name = "diff",
    .group = Group::kUnderstand,
    .summary = "show what differs between two pipelines, runs or checkpoints",
    .purpose =
        "Of two pipelines: every value that differs once both are resolved, defaults too, with its path and both "
        "origins. Of two runs: their configuration, environment, plugins by version and build, and their last "
        "results side by side; times are not compared. Of two checkpoints: what differs, tensor by tensor, how "
        "many elements and by how much, and the state of training.\n"
        "The last line says whether A and B are equal; with --format json, \"equal\" does. Opens no plugin and no "
        "libtorch, and changes nothing.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon diff digits.json mine.json\n"
        "tenon diff runs/digits/0001 runs/digits/0002\n"
        "tenon diff runs/digits/0001/checkpoints/step-000425 runs/digits/0002/checkpoints/step-000425\n"
        "tenon diff digits.json runs/digits/0001/config.resolved.json --format json | jq .equal",
    .exit_codes = kExitCodes,
    .run = &diff,
};
TENON_COMMAND(kDiff);

}  // namespace
}  // namespace tenon::host
