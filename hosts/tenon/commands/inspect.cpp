// tenon inspect: what a checkpoint holds, or which checkpoints a run has.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/process/crash_file.hpp>
#include <core/storage/canonical_json.hpp>
#include <core/storage/checkpoint.hpp>
#include <core/storage/checkpoint_index.hpp>
#include <core/storage/event_log.hpp>
#include <core/storage/run_directory.hpp>
#include <host/arguments.hpp>
#include <host/checkpoint_page.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>
#include <host/table.hpp>

namespace tenon::host {
namespace {

namespace fs = std::filesystem;

using core::Json;

/// One checkpoint of a run.
struct Listed {
  core::CheckpointPlace place;
  std::optional<core::CheckpointRecord> record;
  std::string problem;  ///< Empty: it verifies.
  bool last = false;
  bool best = false;
};

struct RunFacts {
  fs::path path;
  std::string state;                 ///< "running", "finished", "not finished"
  std::string end;                   ///< What its log says of the end.
  std::optional<std::string> crash;  ///< How the last attempt crashed, if it did.
  std::string index_problem;
  std::vector<Listed> checkpoints;  ///< By step.
};

RunFacts read_run(const fs::path& path) {
  RunFacts run;
  run.path = path;
  const std::optional<Json> event = core::last_event(path / "log.jsonl");
  const bool ended = event && event->value("event", Json()) == "run_end";
  run.state = core::is_live(path) ? "running" : ended ? "finished" : "not finished";
  if (ended) run.end = event->value("text", "");
  run.crash = core::read_crash(path);
  core::CheckpointIndex index;
  try {
    index = core::CheckpointIndex::load(path / "checkpoints");
  } catch (const Error& error) {
    run.index_problem = error.what();
  }
  for (core::CheckpointPlace& place : core::list_checkpoints(path / "checkpoints")) {
    Listed listed;
    if (const core::CheckpointRecord* const record = index.find(place.step)) listed.record = *record;
    listed.last = index.last == place.step;
    listed.best = index.best == place.step;
    try {
      (void)core::read_checkpoint(place.path);
    } catch (const Error& error) {
      listed.problem = error.what();
    }
    listed.place = std::move(place);
    run.checkpoints.push_back(std::move(listed));
  }
  return run;
}

std::string marks(const Listed& each) {
  std::vector<std::string> words;
  if (each.last) words.emplace_back("last");
  if (each.best) words.emplace_back("best");
  if (each.record && each.record->pending_validation) words.emplace_back("validation pending");
  if (each.record && each.record->interim) words.emplace_back("interim");
  if (!each.record) words.emplace_back("not in index.json");
  if (!each.problem.empty()) words.emplace_back("damaged");
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string run_page(const RunFacts& run, const Console& console) {
  const Paint paint = console.paint();
  Table head;
  head.style(0, [&](std::string_view text) { return paint.bold(text); });
  head.add({"run", run.path.string()});
  head.add({"state", run.end.empty() ? run.state : fmt::format("{}: {}", run.state, run.end)});
  if (run.crash) head.add({"crash", *run.crash});
  head.add({"checkpoints", run.checkpoints.empty() ? "none" : fmt::format("{}", run.checkpoints.size())});
  std::string out = head.render(console.width());
  Table table(2);
  for (const Listed& each : run.checkpoints) {
    std::vector<std::string> metrics;
    if (each.record) {
      for (const auto& [key, value] : each.record->metrics) metrics.push_back(fmt::format("{} {}", key, value));
    }
    table.add({each.place.path.filename().string(), each.record ? fmt::format("epoch {}", each.record->epoch) : "",
               fmt::format("{}", fmt::join(metrics, ", ")), marks(each)});
  }
  if (!table.empty()) out += fmt::format("\n{}\n{}", paint.bold("Checkpoints"), table.render(console.width()));
  return out;
}

Json run_json(const RunFacts& run) {
  Json json{{"run", run.path.string()}, {"state", run.state}};
  if (!run.end.empty()) json["end"] = run.end;
  if (run.crash) json["crash"] = *run.crash;
  json["checkpoints"] = Json::array();
  for (const Listed& each : run.checkpoints) {
    Json entry{{"step", each.place.step}, {"path", each.place.path.string()}};
    if (each.record) {
      entry["epoch"] = each.record->epoch;
      entry["metrics"] = Json::object();
      for (const auto& [key, value] : each.record->metrics) entry["metrics"][key] = core::number_json(value);
      entry["pending"] = each.record->pending_validation ? Json::array({"validate"}) : Json::array();
      entry["interim"] = each.record->interim;
    }
    entry["last"] = each.last;
    entry["best"] = each.best;
    entry["verified"] = each.problem.empty();
    if (!each.problem.empty()) entry["problem"] = each.problem;
    json["checkpoints"].push_back(std::move(entry));
  }
  return json;
}

/// The newest checkpoint that verifies is shown below the list.
int inspect_run(const fs::path& path, bool statistics, bool json, Console& console) {
  const RunFacts run = read_run(path);
  if (!run.index_problem.empty()) console.report(core::Severity::kWarning, "", run.index_problem);
  const auto newest = std::find_if(run.checkpoints.rbegin(), run.checkpoints.rend(),
                                   [](const Listed& each) { return each.problem.empty(); });
  const bool usable = newest != run.checkpoints.rend();
  std::optional<CheckpointFacts> facts;
  if (usable) facts = read_facts(newest->place.path, statistics);
  if (json) {
    Json whole = run_json(run);
    if (facts) whole["newest"] = checkpoint_json(*facts);
    console.print(pretty(whole));
  } else {
    console.print(run_page(run, console));
    if (facts) console.print('\n' + checkpoint_summary(*facts, console));
  }
  bool whole_run = true;
  for (const Listed& each : run.checkpoints) {
    whole_run = whole_run && each.problem.empty();
    if (!each.problem.empty() && usable) console.report(core::Severity::kWarning, "", each.problem);
  }
  if (usable) return whole_run ? 0 : exit_code(ErrorCode::kCheckpoint);
  std::vector<std::string> problems;
  for (const Listed& each : run.checkpoints) problems.push_back(each.problem);
  throw Error(ErrorCode::kCheckpoint, problems.empty() ? fmt::format("{} has no checkpoint", path.string())
                                                       : fmt::format("no checkpoint of {} verifies: {}", path.string(),
                                                                     fmt::join(problems, "; ")));
}

void inspect_checkpoint(const fs::path& path, bool statistics, bool json, Console& console) {
  const CheckpointFacts facts = read_facts(path, statistics);
  console.print(json ? pretty(checkpoint_json(facts)) : checkpoint_page(facts, console));
  const std::vector<std::string> problems = facts.problems();
  if (problems.empty()) return;
  throw Error(ErrorCode::kCheckpoint,
              fmt::format("the checkpoint {} is damaged: {}", path.string(), fmt::join(problems, "; ")));
}

int inspect(const Arguments& arguments, Console& console) {
  fs::path path = fs::path(arguments.operands().front()).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const bool statistics = arguments.has("tensors");
  std::error_code ignored;
  if (core::step_of(path.filename().string()) || fs::exists(path / "manifest.json", ignored)) {
    inspect_checkpoint(path, statistics, arguments.json(), console);
  } else if (fs::exists(path / ".lock", ignored) || fs::exists(path / "log.jsonl", ignored)) {
    return inspect_run(path, statistics, arguments.json(), console);
  } else {
    throw Error(ErrorCode::kCheckpoint, fmt::format("{} is neither a run directory (runs/NAME/NUMBER) nor a checkpoint "
                                                    "(runs/NAME/NUMBER/checkpoints/step-NNNNNN)",
                                                    path.string()));
  }
  return 0;
}

constexpr Operand kOperands[]{{"CKPT|RUN", "the folder of a checkpoint, or a run directory"}};
constexpr Option kOptions[]{
    {"tensors", "", "least, greatest and mean value of each tensor, and how many are not finite"}, kFormatOption};
constexpr ExitCode kExitCodes[]{
    {0, "done; all that was shown verifies"},
    {2, "the command line is wrong"},
    {9, "the checkpoint is damaged, or one of the run's, or the run has none"},
    {10, "the log of the run cannot be read"},
};
constexpr Command kInspect{
    .name = "inspect",
    .group = Group::kUnderstand,
    .summary = "show what a checkpoint holds, or a run's checkpoints",
    .purpose =
        "For a checkpoint: position, metrics, what equal bytes depend on, tensors by file, the state of "
        "components, files with size and SHA-256. Every file is read and compared with its hash, and one that "
        "is damaged is named. For a run: its checkpoints with their metrics, which is last, best or damaged, "
        "the newest that verifies in short, and how the last attempt crashed, if it did. Nothing is changed, and "
        "libtorch is not opened; a run that is going on may be inspected.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon inspect runs/digits/0001\n"
        "tenon inspect runs/digits/0001/checkpoints/step-000425 --tensors\n"
        "tenon inspect runs/digits/0001 --format json",
    .exit_codes = kExitCodes,
    .run = &inspect,
};
TENON_COMMAND(kInspect);

}  // namespace
}  // namespace tenon::host
