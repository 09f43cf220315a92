// tenon verify resume: stops and resumes a pipeline in new processes, and compares what is left by bytes.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/text/suggest.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/differences.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>
#include <host/proof_runs.hpp>
#include <host/run_log.hpp>
#include <host/table.hpp>

namespace tenon::host {
namespace {

constexpr std::string_view kDefaultPlaces = "1,7,23,end";

/// A step to stop in; nothing stands for the last one.
using Place = std::optional<int64_t>;

Place read_place(std::string_view word, const Command& command) {
  if (word == "end") return std::nullopt;
  const std::optional<int64_t> step = whole_number(word);
  if (step.value_or(0) < 1) {
    throw UsageError(
        {fmt::format("--at takes steps from 1 on, and \"end\", with commas between them, not {}", core::quoted(word))},
        &command);
  }
  return step;
}

std::vector<Place> read_places(const Arguments& arguments) {
  const std::string given = arguments.value("at").value_or(std::string(kDefaultPlaces));
  const std::string_view text = given;
  std::vector<Place> places;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    places.push_back(read_place(text.substr(begin, end - begin), arguments.command()));
    begin = end + 1;
  }
  return places;
}

/// What one stop and its resumption came to.
struct Trial {
  int64_t step = 0;
  int64_t steps_again = 0;
  int64_t samples_again = 0;
  core::Comparison checkpoint;
  std::optional<std::string> log;   ///< First difference of the logs.
  std::vector<std::string> faults;  ///< Whatever else is not as it should be.

  [[nodiscard]] bool holds() const { return checkpoint.equal() && !log && faults.empty(); }
};

class ResumeProof {
 public:
  /// Makes the straight run.
  explicit ResumeProof(ProofRuns& runs) : runs_(runs), straight_(runs.run("straight", "the straight run", {})) {}

  [[nodiscard]] int64_t steps() const noexcept { return straight_.steps; }

  [[nodiscard]] Trial stop_at(int64_t step) {
    const std::string place = fmt::format("at-{}", step);
    const CheckpointPosition before = position_of(stop(place, step).checkpoint);
    const ProofRun resumed = runs_.run(place, fmt::format("the run resumed at step {}", step), {"--resume", "must"});
    Trial trial;
    trial.step = step;
    trial.steps_again = resumed.steps_executed - (straight_.steps - step);
    if (trial.steps_again != 0) {
      trial.faults.push_back(fmt::format("it made {} where {} were left",
                                         counted(count(resumed.steps_executed), "step"), straight_.steps - step));
    }
    check_reading(before, resumed, trial);
    if (resumed.stopped != straight_.stopped) {
      trial.faults.push_back(fmt::format("it stopped early for {} where the straight run did for {}",
                                         core::quoted(resumed.stopped), core::quoted(straight_.stopped)));
    }
    trial.log = compare_logs(straight_.directory, resumed.directory, step);
    trial.checkpoint = core::compare_checkpoints(straight_.checkpoint, resumed.checkpoint);
    return trial;
  }

  /// What differs after the first step behind a stop; nothing where there is none, or where nothing does.
  [[nodiscard]] std::optional<core::Comparison> after_one_step(int64_t step) {
    if (step >= straight_.steps) return std::nullopt;
    const ProofRun straight = stop("one-step-straight", step + 1);
    stop("one-step-resumed", step);
    const ProofRun resumed = stop("one-step-resumed", step + 1, {"--resume", "must"});
    core::Comparison comparison = core::compare_checkpoints(straight.checkpoint, resumed.checkpoint);
    if (comparison.equal()) return std::nullopt;
    return comparison;
  }

 private:
  static std::size_t count(int64_t number) { return static_cast<std::size_t>(number); }

  ProofRun stop(const std::string& place, int64_t step, std::vector<std::string> options = {}) {
    constexpr int kPreempted = 75;
    options.insert(options.end(), {"--interrupt-at", std::to_string(step)});
    return runs_.run(place, fmt::format("the run that was to stop at step {}", step), options, kPreempted);
  }

  /// Reading ahead beyond the last step is nothing twice.
  void check_reading(const CheckpointPosition& before, const ProofRun& resumed, Trial& trial) const {
    if (resumed.first_read && *resumed.first_read < before.next) {
      trial.faults.push_back(fmt::format("it read batch {} of epoch {}, before its position, batch {} of epoch {}",
                                         resumed.first_read->batch, resumed.first_read->epoch, before.next.batch,
                                         before.next.epoch));
    }
    const CheckpointPosition end = position_of(straight_.checkpoint);
    const int64_t left = end.samples - before.samples;
    const bool reads_ahead = !straight_.stopped.empty() || end.next.batch != 0;
    const int64_t surplus = resumed.samples_read - left;
    if (surplus > 0 && !reads_ahead) trial.samples_again = surplus;
    if (resumed.samples_used != left) {
      trial.faults.push_back(
          fmt::format("its steps used {} where {} were left", counted(count(resumed.samples_used), "sample"), left));
    }
    if (surplus < 0 || trial.samples_again > 0) {
      trial.faults.push_back(
          fmt::format("it read {} where {} were left", counted(count(resumed.samples_read), "sample"), left));
    }
  }

  ProofRuns& runs_;
  ProofRun straight_;
};

std::string nearest(const core::Comparison& comparison, const core::Graph& graph) {
  return describe(nearest_to_cause(comparison), graph, "the straight run", "the resumed run");
}

std::string first_fault(const Trial& trial) {
  if (trial.holds()) return "equal";
  if (!trial.checkpoint.equal()) return "differs: " + place_of(nearest_to_cause(trial.checkpoint));
  return trial.faults.empty() ? "the log differs" : trial.faults.front();
}

std::string table_of(const std::vector<Trial>& trials, const Console& console) {
  const Paint paint = console.paint();
  Table table(2);
  table.add({"stopped at", "steps again", "samples twice", "files", "bytes", "last checkpoint and log"});
  for (const Trial& trial : trials) {
    table.add({fmt::format("step {}", trial.step), std::to_string(trial.steps_again),
               std::to_string(trial.samples_again), std::to_string(trial.checkpoint.files),
               std::to_string(trial.checkpoint.bytes), first_fault(trial)});
  }
  table.style(0, [&](std::string_view text) { return paint.bold(text); });
  return table.render(console.width());
}

core::Json to_json(const Trial& trial) {
  return {{"step", trial.step},
          {"steps_again", trial.steps_again},
          {"samples_again", trial.samples_again},
          {"files", trial.checkpoint.files},
          {"bytes", trial.checkpoint.bytes},
          {"equal", trial.holds()},
          {"differences", differences_json(trial.checkpoint)},
          {"log", trial.log ? core::Json(*trial.log) : core::Json()},
          {"faults", trial.faults}};
}

/// Why the proof fails: first what differs after one step, where that is known.
std::string verdict(const Trial& failed, const std::optional<core::Comparison>& localised, const core::Graph& graph) {
  std::string text =
      fmt::format("the run that was stopped at step {} and resumed is not the one that never stopped", failed.step);
  const auto entries = [](const core::Comparison& comparison) {
    const std::size_t count = comparison.differences.size();
    return fmt::format("{} of the checkpoint differ{}, first",
                       count == 1 ? "1 entry" : fmt::format("{} entries", count), count == 1 ? "s" : "");
  };
  if (localised) {
    text += fmt::format(". Already after its first step, {}, {} {}", failed.step + 1, entries(*localised),
                        nearest(*localised, graph));
  } else if (!failed.checkpoint.equal()) {
    text += fmt::format(". At its end, {} {}", entries(failed.checkpoint), nearest(failed.checkpoint, graph));
  }
  for (const std::string& fault : failed.faults) text += "; " + fault;
  // Numbers of the log follow from those of the checkpoint.
  if (failed.log && failed.checkpoint.equal()) text += "; its log differs: " + *failed.log;
  return text;
}

int verify(const Arguments& arguments, Console& console, const core::Graph& graph, ProofRuns& runs) {
  const std::vector<Place> places = read_places(arguments);
  const auto say = [&](const std::string& line) {
    if (!arguments.json()) console.complain(line + '\n');
  };
  ResumeProof proof(runs);
  say(fmt::format("straight run: {}", counted(static_cast<std::size_t>(proof.steps()), "step")));

  std::vector<Trial> trials;
  std::vector<int64_t> beyond;
  for (const Place& place : places) {
    const int64_t step = place.value_or(proof.steps());
    if (step > proof.steps()) {
      beyond.push_back(step);
      continue;
    }
    if (std::ranges::find(trials, step, &Trial::step) != trials.end()) continue;
    trials.push_back(proof.stop_at(step));
    say(fmt::format("stopped at step {} and resumed: {}", step, trials.back().holds() ? "equal" : "different"));
  }
  if (!beyond.empty()) say(fmt::format("left out, beyond the last step: {}", fmt::join(beyond, ", ")));
  if (trials.empty()) {
    throw Error(ErrorCode::kConfig, fmt::format("--at {}: training ends after step {}, so nothing was compared",
                                                *arguments.value("at"), proof.steps()));
  }

  const auto failed = std::ranges::find_if(trials, [](const Trial& trial) { return !trial.holds(); });
  std::optional<core::Comparison> localised;
  if (failed != trials.end() && !failed->checkpoint.equal()) localised = proof.after_one_step(failed->step);

  uint64_t bytes = 0;
  for (const Trial& trial : trials) bytes += trial.checkpoint.bytes;
  if (arguments.json()) {
    core::Json result{{"pipeline", arguments.operands().front()},
                      {"equal", failed == trials.end()},
                      {"steps", proof.steps()},
                      {"bytes", bytes},
                      {"places", core::Json::array()},
                      {"beyond", beyond}};
    for (const Trial& trial : trials) result["places"].push_back(to_json(trial));
    if (localised) result["after_one_step"] = differences_json(*localised);
    console.print(compact(result) + '\n');
  } else {
    console.print(table_of(trials, console));
  }
  if (failed != trials.end()) throw Error(ErrorCode::kVerification, verdict(*failed, localised, graph));
  if (!arguments.json()) {
    console.print(fmt::format("{}: {} compared, {} bytes; no step made again, no sample read twice\n",
                              console.paint().green("resumes to the same bytes"), counted(trials.size(), "resumed run"),
                              bytes));
  }
  return 0;
}

int verify_resume(const Arguments& arguments, Console& console) {
  static_cast<void>(read_places(arguments));  // a mistake there comes before any other
  return prove(arguments, console,
               [&](const core::Graph& graph, ProofRuns& runs) { return verify(arguments, console, graph, runs); });
}

constexpr Operand kOperands[]{{"PIPE", "the pipeline file (.json, or .jsonc with comments)"}};
constexpr Option kOptions[]{
    {.name = "at",
     .value = "STEPS",
     .help = "steps to stop in, such as 1,7,end (default: 1,7,23,end); those beyond the last\n"
             "step are left out, and end is the last step"},
    kOverlayOption,
    kSetOption,
    kKeepOption,
    kFormatOption,
};
constexpr ExitCode kExitCodes[]{
    {0, "every resumed run ended with the bytes of the run that never stopped"},
    {2, "the pipeline or the command line is wrong; nothing was started"},
    {8, "a resumed run differs; the message names what differs first"},
    {10, "a file cannot be written"},
    {130, "interrupted by Ctrl-C; the running process is ended and nothing is left behind"},
};
constexpr Command kVerifyResume{
    .name = "verify resume",
    .group = Group::kUnderstand,
    .summary = "prove that stopping and resuming changes no byte",
    .purpose =
        "Trains the pipeline straight to its end, then again for each place: stopped in that step as by "
        "SIGTERM, and resumed in a new process. Compares the last checkpoint by bytes and the log line by "
        "line without its times, and counts the steps that are made and the samples that are read again. "
        "Where bytes differ, two more runs end one step behind the stop, and what differs there first is "
        "named.\n"
        "Observers, test and exports are left out, and a validation or checkpoint that is due by the clock "
        "comes each epoch instead. Nothing is left behind unless --keep says where. Each run takes as long "
        "as training does: shorten it with --set fit.epochs=2 or an overlay. An error of a run ends the "
        "command with that run's message and exit code.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon verify resume digits.json\n"
        "tenon verify resume digits.json --at 1,end --set vars.epochs=2\n"
        "tenon verify resume digits.json --at 7 --keep proof --format json",
    .exit_codes = kExitCodes,
    .run = &verify_resume,
};
TENON_COMMAND(kVerifyResume);

}  // namespace
}  // namespace tenon::host
