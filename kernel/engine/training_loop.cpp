// Steps, and what stands between them.
#include <engine/training_loop.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <core/process/crash_scene.hpp>
#include <engine/bad_samples.hpp>
#include <engine/models.hpp>
#include <tenon/components/observer.hpp>

namespace tenon::engine {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kLogInterval = 10;  // steps

double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

std::vector<std::pair<std::string, double>> as_list(const std::map<std::string, double>& values) {
  return {values.begin(), values.end()};
}

/// Only the first rank looks at the clock: several would not agree.
core::Cadence cadence_of(core::Cadence cadence, bool leads) {
  if (!leads) cadence.times.clear();
  return cadence;
}

}  // namespace

/// What this rank's controllers asked for at a step boundary.
class TrainingLoop::Asked final : public Requests {
 public:
  void stop(std::string_view reason) override {
    if (!reason_) reason_ = reason;
  }
  void save() override { save_ = true; }

  [[nodiscard]] const std::optional<std::string>& reason() const noexcept { return reason_; }
  [[nodiscard]] bool wants_save() const noexcept { return save_; }

 private:
  std::optional<std::string> reason_;
  bool save_ = false;
};

TrainingLoop::TrainingLoop(Setup& setup, Events& events, Checkpointing* checkpointing, const InterruptionPoll& poll,
                           const Evaluator& evaluator)
    : setup_(setup),
      training_(setup.training()),
      events_(events),
      checkpointing_(checkpointing),
      poll_(poll),
      evaluator_(evaluator),
      checkpoint_due_(cadence_of(setup.graph().checkpoint.every, setup.leads()), training_.samples()),
      first_step_(training_.step_count()) {
  for (const core::Validation& validation : setup.graph().validations) {
    validate_due_.emplace_back(cadence_of(validation.every, setup.leads()), training_.samples());
  }
}

double TrainingLoop::samples_per_second() const noexcept {
  return stepping_ > 0 ? static_cast<double>(samples_) / stepping_ : 0;
}

void TrainingLoop::run(const Standing& standing) {
  begin_ = now();
  stopped_ = standing.stopped;
  for (const core::Validation& validation : setup_.graph().validations) {
    const std::vector<std::string>& left = standing.pending;
    if (std::find(left.begin(), left.end(), validation.path.name) != left.end()) {
      pending_.push_back(validation.path.name);
    }
  }
  save_due_ = saved_ = training_.step_count() > 0 && !standing.interim;
  try {
    if (!pending_.empty()) validate();
    train();
  } catch (const Interrupted&) {
    if (training_.step_count() > 0) save(!save_due_);
    throw;
  }
}

void TrainingLoop::run_trial() {
  begin_ = now();
  training_.start();
  tell_step(make_step(), true);
  Asked asked;
  for (const Components::Observing& each : setup_.components().stop()) ask(each, training_.progress(), asked);
  Decision decision{true, {}, 0};
  for (const core::Validation& validation : setup_.graph().validations) {
    decision.validations.push_back(validation.path.name);
  }
  boundary(std::move(decision));
}

void TrainingLoop::train() {
  if (training_.step_count() >= training_.planned() || !stopped_.empty()) return;
  events_.tell(Event::Kind::kTiming, {}, describe_start(setup_.fit_feed().loader_facts()));
  training_.start();
  while (training_.step_count() < training_.planned() && stopped_.empty()) {
    const StepReport report = make_step();
    tell_step(report, training_.step_count() == training_.planned());
    Asked asked;
    for (const Components::Observing& each : setup_.components().stop()) ask(each, training_.progress(), asked);
    const Decision decision = decide(report, asked);
    boundary(decision);
  }
  tell_bottleneck();
}

StepReport TrainingLoop::make_step() {
  const double before = now();
  const StepReport report = training_.step(poll_.while_waiting());
  stepping_ += now() - before;
  ++steps_made_;
  samples_ += report.samples;
  save_due_ = saved_ = false;
  if (setup_.leads()) core::CrashScene::at(training_.step_count());
  return report;
}

void TrainingLoop::tell_step(const StepReport& report, bool end) {
  const int64_t step = training_.step_count();
  events_.at(step, report.epoch);
  events_.set_speed(samples_per_second());
  events_.set_remaining((now() - begin_) / static_cast<double>(step - first_step_) *
                        static_cast<double>(training_.planned() - step));
  if (step % kLogInterval != 0 && !report.epoch_end && !end) return;
  std::vector<std::pair<std::string, double>> values = training_.take_log();
  add_time_split(values);
  events_.tell(Event::Kind::kStep, std::move(values));
  tell_data(report);
}

/// Where the time since the last line of a step went, and what the loader could have given meanwhile.
void TrainingLoop::add_time_split(std::vector<std::pair<std::string, double>>& values) {
  const Feed& feed = setup_.fit_feed();
  const LoaderFacts facts = feed.loader_facts();
  const TimeSplit sums{stepping_, feed.waited(), feed.copied(), facts.samples, facts.wall};
  const TimeSplit before = std::exchange(logged_, sums);
  const double seconds = std::max(sums.stepping - before.stepping, 1e-9);
  const double waiting = (sums.waited - before.waited) / seconds;
  const double copy = (sums.copied - before.copied) / seconds;
  values.emplace_back("train.waiting", waiting);
  values.emplace_back("train.copy", copy);
  values.emplace_back("train.compute", std::max(1 - waiting - copy, 0.0));
  values.emplace_back("train.loader.workers", facts.workers);
  if (sums.wall <= before.wall) return;  // nothing was made meanwhile
  const auto samples = static_cast<double>(sums.samples - before.samples);
  values.emplace_back("train.loader.samples_per_second",
                      samples * std::max(facts.workers, 1) / (sums.wall - before.wall));
}

/// What people should know of the data: once how many threads were chosen, and at the end of an epoch the samples that
/// could not be made.
void TrainingLoop::tell_data(const StepReport& report) {
  Feed& feed = setup_.fit_feed();
  for (std::string& text : feed.take_messages()) events_.tell(Event::Kind::kTiming, {}, std::move(text));
  const LoaderFacts facts = feed.loader_facts();
  if (facts.automatic && facts.settled && !told_workers_) tell_choice(facts);
  if (report.epoch_end) tell_feeds(report.epoch);
}

/// Of the data of training, that of phases included.
void TrainingLoop::tell_feeds(int64_t epoch) {
  const std::vector<core::Phase>& phases = setup_.graph().fit.phases;
  const std::string who = fmt::format("epoch {}", epoch + 1);
  tell_feed(events_, setup_.fit_feed(), who, setup_.ranks());
  for (std::size_t i = 0; i < phases.size(); ++i) {
    Feed* const own = setup_.phase_feed(i);
    if (own != nullptr) tell_feed(events_, *own, fmt::format("{}, phase \"{}\"", who, phases[i].name), setup_.ranks());
  }
}

/// What the loader took in the end, and whether training had to wait for it.
void TrainingLoop::tell_bottleneck() {
  const Feed& feed = setup_.fit_feed();
  const LoaderFacts facts = feed.loader_facts();
  if (told_workers_ && *told_workers_ != facts.workers) tell_choice(facts);
  if (const auto sentence = describe_bottleneck(facts, stepping_, feed.waited())) {
    events_.tell(Event::Kind::kTiming, {}, *sentence);
  }
}

void TrainingLoop::tell_choice(const LoaderFacts& facts) {
  told_workers_ = facts.workers;
  events_.tell(Event::Kind::kTiming, {}, describe_choice(facts));
}

/// Any rank's wish is everybody's.
TrainingLoop::Decision TrainingLoop::decide(const StepReport& report, Asked& asked) {
  const Position position{training_.step_count(), training_.epoch(), training_.samples(), report.epoch_end};
  const auto at = Clock::now();
  const bool interrupted = setup_.request().interrupt_at == training_.step_count();
  std::vector<int64_t> wishes{
      checkpoint_due_.at(position, at) || asked.wants_save() ? 1 : 0,
      interrupted ? SIGTERM : poll_.heard(),
      asked.reason() ? 1 : 0,
  };
  const std::size_t first = wishes.size();
  for (Due& due : validate_due_) wishes.push_back(due.at(position, at) ? 1 : 0);
  agree(setup_.ranks(), wishes);
  if (wishes[2] != 0) settle_stop(asked);
  const bool end = training_.step_count() == training_.planned() || !stopped_.empty();
  Decision decision{wishes[0] != 0 || end, {}, static_cast<int>(wishes[1])};
  const std::vector<core::Validation>& validations = setup_.graph().validations;
  for (std::size_t i = 0; i < validations.size(); ++i) {
    if (wishes[first + i] != 0 || end) decision.validations.push_back(validations[i].path.name);
  }
  return decision;
}

/// The reason of the first rank that has one becomes everybody's.
void TrainingLoop::settle_stop(Asked& asked) {
  Collectives& ranks = setup_.ranks();
  int64_t backwards = asked.reason() ? ranks.world() - ranks.rank() : 0;
  agree(ranks, {&backwards, 1});
  if (backwards == 0) return;
  stopped_ = broadcast_text(ranks, asked.reason().value_or(""), ranks.world() - backwards);
  if (stopped_.empty()) stopped_ = "a controller asked for it";
}

void TrainingLoop::boundary(Decision decision) {
  pending_ = std::move(decision.validations);
  save_due_ = decision.save;
  if (decision.signal != 0) throw Interrupted{decision.signal};
  if (decision.save) save(false);
  if (!pending_.empty()) validate();
}

void TrainingLoop::save(bool interim) {
  if (std::exchange(saved_, true)) return;
  share_buffers(setup_.components(), setup_.ranks());
  tell_feeds(training_.epoch());  // whoever goes on from here counts anew
  if (checkpointing_ == nullptr) return;
  events_.tell(Event::Kind::kCheckpoint, {}, checkpointing_->write({pending_, stopped_, interim}).string());
}

/// Behind a checkpoint, so that nothing is lost when it fails; what it finds may end training, which needs a checkpoint
/// then where there was none.
void TrainingLoop::validate() {
  share_buffers(setup_.components(), setup_.ranks());
  std::map<std::string, double> results;
  const std::vector<core::Validation>& validations = setup_.graph().validations;
  for (std::size_t i = 0; i < validations.size(); ++i) {
    const std::string& name = validations[i].path.name;
    if (std::find(pending_.begin(), pending_.end(), name) == pending_.end()) continue;
    events_.announce(Event::Kind::kValidateStart, name);
    results.merge(evaluator_.measure(setup_.validate_feed(i), name));
    tell_feed(events_, setup_.validate_feed(i), name, setup_.ranks());
  }
  events_.tell(Event::Kind::kValidateEnd, as_list(results));
  if (saved_) note_validated(results);
  if (stopped_.empty()) observe_metrics(results);
  pending_.clear();
  if (!stopped_.empty() && !saved_) {
    save(false);
    note_validated(results);
  }
}

void TrainingLoop::note_validated(const std::map<std::string, double>& results) {
  if (checkpointing_ == nullptr || !checkpointing_->validated(results)) return;
  events_.tell(Event::Kind::kBest, as_list(results), checkpointing_->last_path().string());
}

void TrainingLoop::observe_metrics(const std::map<std::string, double>& results) {
  setup_.optimization().observe(training_.progress(), results);
  Asked asked;
  for (const Components::Observing& each : setup_.components().stop()) {
    const auto found = results.find(each.attached->metric_key);
    if (found == results.end()) continue;
    Progress progress = training_.progress();
    progress.metric = Observation{found->second, each.attached->metric_direction.value_or(Direction::kMax)};
    ask(each, progress, asked);
  }
  settle_stop(asked);
}

void TrainingLoop::ask(const Components::Observing& each, const Progress& progress, Asked& asked) {
  void* const ability = each.handle.get().ability(Controller::kAbility);
  if (ability == nullptr) return;
  setup_.components().entering(each, "at_step", [&] { static_cast<Controller*>(ability)->at_step(progress, asked); });
}

}  // namespace tenon::engine
