// The way of a run, for one rank and for several.
#include <engine/session.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <core/process/crash_scene.hpp>
#include <core/resume/contract.hpp>
#include <core/storage/event_log.hpp>
#include <core/storage/run_directory.hpp>
#include <engine/bad_samples.hpp>
#include <engine/data/machine.hpp>
#include <engine/descriptions.hpp>
#include <engine/exporting.hpp>
#include <engine/models.hpp>
#include <engine/preflight.hpp>
#include <engine/ranks.hpp>
#include <engine/setup.hpp>
#include <engine/training_loop.hpp>

namespace tenon::engine {
namespace {

constexpr double kObserverLimit = 5;  // seconds that observers have to show what is left

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// A change as one line without its feed.
std::string told(const core::Change& change) {
  std::string line = core::render({&change, 1});
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
  return line;
}

/// What only the first rank has: the run's directory, its log, its observers and its checkpoints.
class Records {
 public:
  Records(Setup& setup, const core::Json& provenance)
      : directory_(enter(setup)),
        log_has_checkpoint_(ends_with_checkpoint(directory_.log())),
        log_(directory_.log()),
        observers_(setup.observers()),
        checkpointing_(setup.components(), directory_, setup.training(), provenance) {
    core::CrashScene::enter(directory_.path());
    const auto& resume = setup.request().resume;
    write_descriptions(setup, provenance, directory_, resume ? resume->checkpoint.step() : 0);
    directory_.require_space(checkpointing_.estimated_bytes());
  }

  [[nodiscard]] const core::RunDirectory& directory() const noexcept { return directory_; }
  [[nodiscard]] core::EventLog& log() noexcept { return log_; }

  /// The log, cut back for going on, ends with the line of the checkpoint: a kill can come between the two.
  [[nodiscard]] bool log_has_checkpoint() const noexcept { return log_has_checkpoint_; }
  [[nodiscard]] ObserverThread& observers() noexcept { return observers_; }
  [[nodiscard]] Checkpointing& checkpointing() noexcept { return checkpointing_; }

 private:
  static bool ends_with_checkpoint(const std::filesystem::path& log) {
    const std::optional<core::Json> last = core::last_event(log);
    return last && last->value("event", "") == "checkpoint";
  }

  static core::RunDirectory enter(Setup& setup) {
    try {
      if (setup.request().resume) return core::rewind(*setup.request().resume);
      return core::RunDirectory::create(setup.graph().run.dir, setup.graph().name);
    } catch (const Error& error) {
      throw PlacedError(core::diagnose(setup.components().resolved(), "/run/dir", error));
    }
  }

  core::RunDirectory directory_;
  bool log_has_checkpoint_;
  core::EventLog log_;
  ObserverThread observers_;
  Checkpointing checkpointing_;
};

/// One rank's way through a run.
class Session {
 public:
  /// `ranks`: see Setup. A trial makes one step and whatever comes behind the last one.
  Session(const RunRequest& request, bool trial, Collectives* ranks = nullptr)
      : request_(request), trial_(trial), setup_(request, ranks) {}

  RunOutcome run() {
    try {
      setup_.prepare();
      InterruptionPoll(request_.interruption, setup_.ranks()).together();
    } catch (const Interrupted& interrupted) {
      outcome_.interrupted = interrupted.signal;
      note_resume_point();
      return std::move(outcome_);
    }
    const InterruptionPoll poll(request_.interruption, setup_.ranks());
    const core::Json provenance = setup_.provenance();
    if (setup_.leads()) begin_records(provenance);
    try {
      go(poll, provenance);
    } catch (const Error& error) {
      fail(error.what());
      throw;
    }
    outcome_.peak_memory = peak_memory();
    return std::move(outcome_);
  }

 private:
  /// Interrupted before it began: a run that goes on is where it was, and a branch of it has no directory yet.
  void note_resume_point() {
    if (!request_.resume) return;
    const core::ResumePoint& point = *request_.resume;
    if (!point.branch) outcome_.directory = point.directory.path();
    outcome_.last_checkpoint = point.checkpoint.path();
    outcome_.first_step = point.checkpoint.step();
    outcome_.steps = outcome_.first_step;
    outcome_.epochs = point.checkpoint.json("state").at("training").at("epoch").get<int64_t>();
  }

  void begin_records(const core::Json& provenance) {
    if (request_.resume) {
      const core::Json state = request_.resume->checkpoint.json("state");
      const auto changes = core::compare_provenance(state.at("provenance"), provenance, setup_.graph());
      core::require_accepted(changes, request_.accepted);
      for (const core::Change& change : changes) notes_.push_back("changed since the checkpoint: " + told(change));
      if (!core::last_event(request_.resume->directory.log())) {
        notes_.emplace_back("log.jsonl is missing or damaged: what it told before this step is lost");
      }
    }
    const std::vector<std::string>& shortened = setup_.optimization().shortened_schedules();
    notes_.insert(notes_.end(), shortened.begin(), shortened.end());
    notes_.insert(notes_.end(), setup_.notes().begin(), setup_.notes().end());
    records_.emplace(setup_, provenance);
    outcome_.directory = records_->directory().path();
  }

  /// From a place in training to files that are verified.
  void go(const InterruptionPoll& poll, const core::Json& provenance) {
    const Standing standing = restore_position();
    if (records_) {
      events_ = Events(records_->directory(), records_->log(), records_->observers(), setup_.training().planned(),
                       setup_.training().epochs());
    }
    tell_start(standing);
    const Evaluator evaluator(setup_.components(), setup_.ranks(), setup_.precision(), poll,
                              make_generator(setup_.device()));
    TrainingLoop loop(setup_, events_, records_ ? &records_->checkpointing() : nullptr, poll, evaluator);
    try {
      train(loop, standing);
      test(evaluator);
      if (setup_.leads()) export_models(poll, provenance);
      tell_problems();
      require_results();
      events_.tell(Event::Kind::kRunEnd, {}, outcome_.stopped.empty() ? "done" : outcome_.stopped);
      finish();
    } catch (const Interrupted& interrupted) {
      outcome_.interrupted = interrupted.signal;
      events_.announce(Event::Kind::kMessage, "interrupted");
      finish();
    }
  }

  /// All ranks read the checkpoint that the first one has chosen.
  Standing restore_position() {
    std::string from;
    if (records_ && request_.resume) from = request_.resume->checkpoint.path().string();
    from = broadcast_text(setup_.ranks(), from);
    if (from.empty()) return {};
    // The first rank's was verified when it was found.
    const core::Checkpoint checkpoint = records_ ? request_.resume->checkpoint : core::read_checkpoint(from);
    Standing standing = restore(setup_.components(), setup_.training(), checkpoint, request_.begin_anew);
    outcome_.first_step = setup_.training().step_count();
    if (records_) records_->checkpointing().go_on_from(checkpoint, standing, notes_);
    require_steps_left();
    return standing;
  }

  /// Fewer epochs than were made already cannot be meant.
  void require_steps_left() {
    const Training& training = setup_.training();
    if (training.planned() >= training.step_count()) return;
    const std::string message = fmt::format(
        "the checkpoint has {} steps behind it, and this would be {}: ask for more, or go on from an earlier "
        "checkpoint by --resume PATH",
        training.step_count(), training.planned());
    throw PlacedError(
        core::diagnose(setup_.components().resolved(), "/fit/epochs", Error(ErrorCode::kConfig, message)));
  }

  void tell_start(const Standing& standing) {
    const Training& training = setup_.training();
    const bool between_epochs = training.batch() == 0 && training.epoch() > 0;
    events_.at(training.step_count(), training.epoch() - (between_epochs ? 1 : 0));
    if (!records_) return;
    if (request_.resume && !records_->log_has_checkpoint()) {
      events_.tell(Event::Kind::kCheckpoint, {}, records_->checkpointing().last_path().string());
    }
    // Validated before it was saved, so that nothing tells it again.
    const Checkpointing& checkpointing = records_->checkpointing();
    if (request_.resume && standing.pending.empty() && checkpointing.last_is_best()) {
      const auto metrics = checkpointing.last_metrics();
      events_.tell(Event::Kind::kBest, {metrics.begin(), metrics.end()}, checkpointing.last_path().string());
    }
    events_.tell(Event::Kind::kRunStart, {}, records_->directory().path().string());
    setup_.tell_remarks([&](const std::string& text) { events_.tell(Event::Kind::kMessage, {}, text); });
    for (std::string& note : notes_) events_.tell(Event::Kind::kMessage, {}, std::move(note));
  }

  void train(TrainingLoop& loop, const Standing& standing) {
    const double begin = now();
    try {
      if (trial_) {
        loop.run_trial();
      } else {
        loop.run(standing);
      }
    } catch (const Interrupted&) {
      note_position(loop);
      throw;
    }
    note_position(loop);
    if (trial_) read_back();
    outcome_.train_seconds = now() - begin;
    outcome_.stopped = loop.stopped();
  }

  /// What was saved has to come back, into components that hold it already.
  void read_back() {
    std::string last;
    if (records_) last = records_->checkpointing().last_path().string();
    const core::Checkpoint checkpoint = core::read_checkpoint(broadcast_text(setup_.ranks(), last));
    static_cast<void>(restore(setup_.components(), setup_.training(), checkpoint, {}));
  }

  /// Called by all ranks.
  void note_position(const TrainingLoop& loop) {
    outcome_.steps = setup_.training().step_count();
    outcome_.epochs = setup_.training().epoch();
    outcome_.samples_per_second = loop.samples_per_second();
    outcome_.steps_executed = loop.steps_made();
    outcome_.samples_used = loop.samples_used();
    const LoaderReads& reads = setup_.fit_feed().reads();
    const int64_t batches = setup_.fit_feed().batches();
    constexpr int64_t kNowhere = std::numeric_limits<int64_t>::min();
    int64_t backwards = reads.first ? -(reads.first->epoch * batches + reads.first->batch) : kNowhere;
    agree(setup_.ranks(), {&backwards, 1});
    if (backwards != kNowhere) outcome_.first_read = {-backwards / batches, -backwards % batches};
    outcome_.samples_read = reads.samples;
    add_up(setup_.ranks(), {&outcome_.samples_read, 1});
    if (records_) outcome_.last_checkpoint = records_->checkpointing().last_path();
  }

  /// Chooses the weights, and tests them once.
  void test(const Evaluator& evaluator) {
    std::string chosen;
    if (records_) {
      const Checkpointing::Chosen choice = records_->checkpointing().chosen();
      outcome_.checkpoint = choice.path;
      outcome_.checkpoint_is_best = choice.best;
      outcome_.validation = choice.metrics;
      chosen = choice.path.string();
    }
    if (!setup_.graph().test && setup_.graph().exports.empty()) return;
    chosen_ = core::read_checkpoint(broadcast_text(setup_.ranks(), chosen));
    if (!setup_.graph().test) return;
    load_models();
    outcome_.test = evaluator.measure(setup_.test_feed(), "test");
    tell_feed(events_, setup_.test_feed(), "test", setup_.ranks());
    events_.tell(Event::Kind::kTest, {outcome_.test.begin(), outcome_.test.end()}, chosen);
  }

  void load_models() {
    visit_models(setup_.components(), [&](const core::Node& node, Model& model) {
      setup_.components().entering(node.name, "state", "cannot take its weights back",
                                   [&] { load_model(model, node.name, *chosen_); });
    });
  }

  void export_models(const InterruptionPoll& poll, const core::Json& provenance) {
    if (setup_.graph().exports.empty()) return;
    load_models();  // whatever the test did to buffers
    const Exporting exporting{setup_.components(),
                              setup_.precision(),
                              outcome_.checkpoint,
                              provenance,
                              records_->directory().exports(),
                              {.program = request_.program, .poll = &poll}};
    outcome_.exports = export_nodes(exporting, setup_.graph().exports, [&](const ExportOutcome& exported) {
      events_.tell(Event::Kind::kExport, {{"export." + exported.node + ".max_abs_error", exported.max_abs_error}},
                   exported.file.string());
    });
  }

  void tell_problems() {
    if (!records_) return;
    for (const std::string& problem : records_->observers().problems()) {
      events_.tell(Event::Kind::kMessage, {}, problem);
    }
  }

  /// What the outcome names, and what other commands read a run by, is still there.
  void require_results() const {
    if (!records_) return;
    const std::vector<std::filesystem::path> files{"log.jsonl", "config.resolved.json", outcome_.checkpoint,
                                                   outcome_.last_checkpoint};
    records_->directory().require_files(files);
  }

  /// The log of a run that is to go on ends with its checkpoint; observers get what is left.
  void finish() {
    if (!records_) return;
    records_->log().sync();
    drain();
  }

  void drain() {
    if (!records_->observers().drain(kObserverLimit)) setup_.components().abandon_observers();
  }

  /// Tells what ended the run as far as that can be done: it may be that nothing can be written any more.
  void fail(const std::string& what) {
    if (!records_) return;
    try {
      tell_problems();
      events_.tell(Event::Kind::kFailure, {}, what);
    } catch (const Error&) {
      events_.announce(Event::Kind::kFailure, what);
    }
    try {
      records_->log().sync();
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): what ended the run comes first
    }
    drain();
  }

  const RunRequest& request_;
  const bool trial_;
  Setup setup_;
  std::optional<Records> records_;
  Events events_;
  std::optional<core::Checkpoint> chosen_;  // what test and export take the weights from
  std::vector<std::string> notes_;
  RunOutcome outcome_;
};

/// On all ranks that are threads of this process, or alone.
RunOutcome run_all(const RunRequest& request, bool trial) {
  const core::CrashScene scene(trial);
  RunOutcome outcome;
  const bool several =
      run_in_process(request.graph, request.resolved, request.catalogue, [&](int64_t rank, Collectives& ranks) {
        return [&outcome, rank, session = std::make_shared<Session>(request, trial, &ranks)] {
          RunOutcome own = session->run();
          if (rank == 0) outcome = std::move(own);
        };
      });
  return several ? outcome : Session(request, trial).run();
}

/// Gives the signal that ended it, or 0.
int preflight(const RunRequest& request) {
  const TrialFolder folder(request);
  try {
    return run_all(trial_of(request, folder.path()), true).interrupted;
  } catch (const PlacedError& error) {
    throw found_in_preflight(error);
  } catch (const Error& error) {  // without a place in the pipeline
    throw found_in_preflight(PlacedError({.message = error.what(), .error_code = error.code()}));
  }
}

}  // namespace

RunOutcome run_session(const RunRequest& request) {
  if (!request.preflight || request.resume) return run_all(request, false);
  const double begin = now();
  RunOutcome outcome;
  outcome.interrupted = preflight(request);
  if (outcome.interrupted != 0) return outcome;
  const double seconds = now() - begin;
  outcome = run_all(request, false);
  outcome.preflight_seconds = seconds;
  return outcome;
}

}  // namespace tenon::engine
