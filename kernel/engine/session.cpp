// The way of a run.
#include <engine/session.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <core/storage/run_directory.hpp>
#include <core/storage/sha256.hpp>
#include <engine/cadence.hpp>
#include <engine/checkpointing.hpp>
#include <engine/components.hpp>
#include <engine/device.hpp>
#include <engine/evaluate.hpp>
#include <engine/events.hpp>
#include <engine/export_gate.hpp>
#include <engine/plan.hpp>
#include <engine/training.hpp>
#include <tenon/components/precision.hpp>

namespace tenon::engine {
namespace {

using Clock = std::chrono::steady_clock;
using Values = std::vector<std::pair<std::string, double>>;

constexpr int64_t kLogInterval = 10;  // steps
constexpr double kObserverLimit = 5;  // seconds that observers have to show what is left

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

Values as_list(const std::map<std::string, double>& values) { return {values.begin(), values.end()}; }

/// What a controller asked for at a step boundary.
class StopRequests final : public Requests {
 public:
  void stop(std::string_view reason) override {
    if (!reason_) reason_ = reason;
  }
  void save() override { save_ = true; }

  [[nodiscard]] const std::optional<std::string>& reason() const noexcept { return reason_; }
  [[nodiscard]] bool take_save() noexcept { return std::exchange(save_, false); }

 private:
  std::optional<std::string> reason_;
  bool save_ = false;
};

/// What the run stands on: who is who, before any training.
class Session {
 public:
  explicit Session(const RunRequest& request)
      : request_(request),
        graph_(request.graph),
        device_(prepare_device(request.graph, request.resolved)),
        components_(request.graph, request.resolved, request.catalogue),
        seed_(static_cast<uint64_t>(graph_.run.seed)),
        fit_feed_(components_, graph_.fit.path, seed_) {
    if (graph_.validate) validate_feed_.emplace(components_, graph_.validate->path, seed_);
    if (graph_.test) test_feed_.emplace(components_, graph_.test->path, seed_);
  }

  RunOutcome run() {
    prepare();
    core::RunDirectory directory = make_directory();
    outcome_.directory = directory.path();
    const core::Json provenance = write_descriptions(directory);
    core::EventLog log(directory.log());
    ObserverThread observers(observing());
    Events events(log, observers, training_->planned(), training_->epochs());
    events_ = &events;
    Checkpointing checkpointing(components_, directory, *training_, provenance);
    checkpointing_ = &checkpointing;
    try {
      directory.require_space(checkpointing.estimated_bytes());
      events.tell(Event::Kind::kRunStart, {}, directory.path().string());
      train();
      test();
      export_models(directory, provenance);
      finish(observers, outcome_.stopped.empty() ? "done" : outcome_.stopped, false);
    } catch (const Error& error) {
      finish(observers, error.what(), true);
      throw;
    }
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] core::RunDirectory make_directory() const {
    try {
      return core::RunDirectory::create(graph_.run.dir, graph_.name);
    } catch (const Error& error) {
      throw PlacedError(core::diagnose(components_.resolved(), "/run/dir", error));
    }
  }

  /// Networks tried without memory, then memory, data and threads.
  void prepare() {
    Collectives& ranks = join();
    std::vector<const Feed*> feeds{&fit_feed_};
    if (validate_feed_) feeds.push_back(&*validate_feed_);
    if (test_feed_) feeds.push_back(&*test_feed_);
    const Untried untried = plan_networks(components_, feeds, ranks);

    open_datasets(components_);
    fit_feed_.connect(ranks, device_);
    if (validate_feed_) validate_feed_->connect(ranks, device_);
    if (test_feed_) test_feed_->connect(ranks, device_);

    const at::TensorOptions options = at::TensorOptions(precision().storage()).device(device_);
    for (const core::Node& node : graph_.nodes) {
      if (node.kind == "model") materialize_buffers(components_.node<Model>(node.name), device_);
    }
    optimization_ = std::make_unique<Optimization>(components_, seed_, options);
    if (!untried.empty()) {
      for (const Feed* const feed : feeds) try_on_zeros(components_, *feed, ranks, device_);
    }
    training_ = std::make_unique<Training>(components_, fit_feed_, *optimization_, ranks, precision(), device_);
    if (training_->planned() < 1) {
      throw PlacedError(core::diagnose(components_.resolved(), "/fit/epochs",
                                       Error(ErrorCode::kConfig, "training would take no step")));
    }
    optimization_->schedule(training_->progress());
  }

  Collectives& join() {
    if (ranks_ == nullptr) {
      const std::string& name = graph_.run.distributed;
      if (graph_.find(name) != nullptr) {
        ranks_ = components_.entering(name, "cannot join the other ranks",
                                      [&] { return &components_.node<Distributed>(name).join(); });
      } else {
        alone_ = components_.create("distributed:single");
        ranks_ = &alone_.as<Distributed>().join();
      }
    }
    return *ranks_;
  }

  Precision& precision() {
    if (graph_.fit.precision) return components_.node<Precision>(*graph_.fit.precision);
    if (!plain_) plain_ = components_.create("precision:fp32");
    return plain_.as<Precision>();
  }

  /// Writes what the run stands on; returns the part that equal bytes depend on.
  core::Json write_descriptions(const core::RunDirectory& directory) {
    core::Json provenance = device_facts(device_);
    provenance["libtorch"] = request_.libtorch.version;
    provenance["data"] = data_fingerprints(components_);
    directory.write_json("config.resolved.json", graph_.resolved);
    core::Json environment;
    environment["format"] = 1;
    environment.update(provenance);
    environment["libtorch_path"] = request_.libtorch.libraries.string();
    for (const core::EnvironmentSetting& setting : request_.environment) {
      environment["variables"].push_back(
          {{"name", setting.name}, {"value", setting.value.value_or("")}, {"reason", setting.reason}});
    }
    directory.write_json("environment.json", environment);
    core::Json lock;
    lock["format"] = 1;
    lock["libtorch"] = request_.libtorch.version;
    lock["device"] = device_.str();
    for (const auto& opened : components_.loader().opened()) {
      const core::PluginInfo& info = opened->info();
      lock["plugins"].push_back({{"id", info.id},
                                 {"version", info.version},
                                 {"build_id", info.build_id},
                                 {"fingerprint", info.fingerprint},
                                 {"sha256", core::sha256_file(info.path)}});
    }
    directory.write_json("lock.json", lock);
    return provenance;
  }

  [[nodiscard]] std::vector<std::pair<std::string, Observer*>> observing() const {
    std::vector<std::pair<std::string, Observer*>> observers;
    for (const auto* list : {&components_.stop(), &components_.observe()}) {
      for (const Components::Observing& each : *list) {
        observers.emplace_back(each.attached->use, &each.handle.as<Observer>());
      }
    }
    return observers;
  }

  void train() {
    Due checkpoint_due(graph_.checkpoint.every);
    Due validate_due(graph_.validate ? graph_.validate->every : core::Cadence{});
    StopRequests requests;
    double stepping = 0;
    int64_t stepped_samples = 0;
    double waited = 0;
    const Clock::time_point begin = Clock::now();
    training_->start();
    while (training_->step_count() < training_->planned() && !requests.reason()) {
      const Clock::time_point before = Clock::now();
      const StepReport report = training_->step();
      const double took = seconds_between(before, Clock::now());
      stepping += took;
      stepped_samples += report.samples;
      outcome_.samples_per_second = static_cast<double>(stepped_samples) / stepping;

      const int64_t step = training_->step_count();
      const bool end = step == training_->planned();
      events_->at(step, report.epoch);
      events_->set_speed(outcome_.samples_per_second);
      events_->set_remaining(seconds_between(begin, Clock::now()) / static_cast<double>(step) *
                             static_cast<double>(training_->planned() - step));
      if (step % kLogInterval == 0 || report.epoch_end || end) {
        Values values = training_->take_log();
        values.emplace_back("train.waiting", (fit_feed_.waited() - std::exchange(waited, fit_feed_.waited())) /
                                                 std::max(stepping - std::exchange(logged_stepping_, stepping), 1e-9));
        events_->tell(Event::Kind::kStep, std::move(values));
      }
      ask_controllers(training_->progress(), requests);
      boundary(report, end || requests.reason(), checkpoint_due, validate_due, requests);
    }
    outcome_.steps = training_->step_count();
    outcome_.epochs = training_->epoch();
    outcome_.train_seconds = seconds_between(begin, Clock::now());
    outcome_.stopped = requests.reason().value_or("");
  }

  /// Behind a step: first the checkpoint, then the validation that is due, whose result may end training; the end
  /// always has both.
  void boundary(const StepReport& report, bool end, Due& checkpoint_due, Due& validate_due, StopRequests& requests) {
    const Position position{training_->step_count(), training_->epoch(), training_->samples(), report.epoch_end};
    const Clock::time_point now = Clock::now();
    const bool save_now = checkpoint_due.at(position, now) || requests.take_save() || end;
    const bool validate_now = graph_.validate && (validate_due.at(position, now) || end);
    if (save_now) checkpoint(validate_now);
    if (!validate_now) return;
    events_->tell(Event::Kind::kValidateStart, {}, "validate");
    const auto results = evaluate(components_, *validate_feed_, *ranks_, "validate", make_generator(device_));
    events_->tell(Event::Kind::kValidateEnd, as_list(results));
    if (save_now && checkpointing_->validated(results)) events_->tell(Event::Kind::kBest, as_list(results), saved_);
    observe_metrics(results, requests);
    if (requests.reason() && !save_now) {
      checkpoint(true);
      if (checkpointing_->validated(results)) events_->tell(Event::Kind::kBest, as_list(results), saved_);
    }
  }

  void checkpoint(bool validation_pending) {
    saved_ = checkpointing_->write(validation_pending).string();
    events_->tell(Event::Kind::kCheckpoint, {}, saved_);
  }

  void ask_controllers(const Progress& progress, StopRequests& requests) {
    for (const Components::Observing& each : components_.stop()) ask(each, progress, requests);
  }

  void observe_metrics(const std::map<std::string, double>& results, StopRequests& requests) {
    for (const Components::Observing& each : components_.stop()) {
      const auto found = results.find(each.attached->metric_key);
      if (found == results.end()) continue;
      Progress progress = training_->progress();
      progress.metric = Observation{found->second, each.attached->metric_direction.value_or(Direction::kMax)};
      ask(each, progress, requests);
    }
  }

  void ask(const Components::Observing& each, const Progress& progress, StopRequests& requests) {
    void* const ability = each.handle.get().ability(Controller::kAbility);
    if (ability == nullptr) return;
    try {
      static_cast<Controller*>(ability)->at_step(progress, requests);
    } catch (...) {
      throw PlacedError(core::diagnose(components_.resolved(), *each.attached, current_error(ErrorCode::kPlugin)));
    }
  }

  /// Puts the chosen weights into the models, and tests them once.
  void test() {
    const Checkpointing::Chosen chosen = checkpointing_->chosen();
    outcome_.checkpoint = chosen.path;
    outcome_.checkpoint_is_best = chosen.best;
    outcome_.validation = chosen.metrics;
    if (!graph_.test && graph_.exports.empty()) return;
    const core::Checkpoint checkpoint = core::read_checkpoint(chosen.path);
    for (const core::Node& node : graph_.nodes) {
      if (node.kind != "model") continue;
      components_.entering(node.name, "cannot take its weights back",
                           [&] { load_model(components_.node<Model>(node.name), node.name, checkpoint); });
    }
    if (!graph_.test) return;
    outcome_.test = evaluate(components_, *test_feed_, *ranks_, "test", make_generator(device_));
    events_->tell(Event::Kind::kTest, as_list(outcome_.test), chosen.path.string());
  }

  void export_models(const core::RunDirectory& directory, const core::Json& provenance) {
    if (graph_.exports.empty()) return;
    for (const core::Node& node : graph_.nodes) {
      if (node.kind == "model") move_model(components_.node<Model>(node.name), c10::kCPU);
    }
    core::Json facts = provenance;
    facts["checkpoint"] = outcome_.checkpoint.filename().string();
    facts["checkpoint_manifest_sha256"] = core::sha256_file(outcome_.checkpoint / "manifest.json");
    facts["precision"] = graph_.fit.precision ? graph_.at(*graph_.fit.precision).use() : "precision:fp32";
    for (const std::string& name : graph_.exports) {
      const core::Path& path = path_to(graph_.at(name).of.front());
      Feed feed(components_, path, seed_);
      feed.connect(*ranks_, c10::kCPU);
      ExportOutcome exported =
          export_model(components_, name, feed, *ranks_, directory.exports(), request_.program, facts);
      events_->tell(Event::Kind::kExport, {{"export." + name + ".max_abs_error", exported.max_abs_error}},
                    exported.file.string());
      outcome_.exports.push_back(std::move(exported));
    }
  }

  /// The path whose samples an exported model is verified with: test, else validation, else training.
  [[nodiscard]] const core::Path& path_to(const std::string& model) const {
    const auto reaches = [&](const core::Path& path) {
      return std::find(path.step.begin(), path.step.end(), model) != path.step.end();
    };
    if (graph_.test && reaches(graph_.test->path)) return graph_.test->path;
    if (graph_.validate && reaches(graph_.validate->path)) return graph_.validate->path;
    return graph_.fit.path;
  }

  void finish(ObserverThread& observers, const std::string& how, bool failed) {
    for (const std::string& problem : observers.problems()) events_->tell(Event::Kind::kMessage, {}, problem);
    events_->tell(failed ? Event::Kind::kFailure : Event::Kind::kRunEnd, {}, how);
    if (!observers.drain(kObserverLimit)) components_.abandon_observers();
  }

  const RunRequest& request_;
  const core::Graph& graph_;
  c10::Device device_;
  Components components_;
  core::ComponentHandle alone_;  // what the pipeline leaves to the kernel
  core::ComponentHandle plain_;
  uint64_t seed_;
  Feed fit_feed_;
  std::optional<Feed> validate_feed_;
  std::optional<Feed> test_feed_;
  Collectives* ranks_ = nullptr;
  std::unique_ptr<Optimization> optimization_;
  std::unique_ptr<Training> training_;
  Events* events_ = nullptr;
  Checkpointing* checkpointing_ = nullptr;
  RunOutcome outcome_;
  std::string saved_;
  double logged_stepping_ = 0;
};

}  // namespace

RunOutcome run_session(const RunRequest& request) { return Session(request).run(); }

}  // namespace tenon::engine
