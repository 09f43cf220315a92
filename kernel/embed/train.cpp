// One training of a process at a time, on a thread of its own.
#include <chrono>
#include <csignal>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <core/plugin/search_path.hpp>
#include <core/resume/changes.hpp>
#include <core/resume/resume_point.hpp>
#include <embed/content.hpp>
#include <embed/errors.hpp>
#include <embed/opening.hpp>
#include <embed/worker.hpp>
#include <tenon/kernel/runtime.hpp>

namespace tenon::kernel {
namespace {

/// Hands events to the program.
class Callback final : public Observer {
 public:
  Callback(const NoParams& /*params*/, std::function<void(const Event&)> function) : function_(std::move(function)) {}

  void on(const Event& event) override { function_(event); }

 private:
  std::function<void(const Event&)> function_;
};

/// What crash reports say of a run is the process's: trainings take turns. Locked unless stopped while waiting.
std::unique_lock<std::timed_mutex> take_turn(const std::stop_token& stop) {
  static std::timed_mutex turn;
  constexpr std::chrono::milliseconds kPoll{20};
  std::unique_lock lock(turn, std::defer_lock);
  while (!stop.stop_requested() && !lock.try_lock_for(kPoll)) {
  }
  return lock;
}

/// A run's own values, until the engine has them.
struct Prepared {
  core::Graph graph;
  core::Resolved resolved;
  core::Catalogue catalogue;
};

/// What a new run needs besides what load() has checked: files of first values.
void require_first_values(const Pipeline::Content& pipeline) {
  const core::GraphResult built = core::build_graph(pipeline.unbuilt, pipeline.catalogue);
  require_no_error(built.diagnostics, "nothing was started");
}

std::shared_ptr<core::ResumePoint> find_resuming(const Prepared& run, const TrainOptions& options,
                                                 std::set<std::string>& begin_anew) {
  core::check_accept_words(options.accept, run.graph);
  std::optional<core::ResumePoint> point =
      core::find_resume_point(run.graph.run.dir, run.graph.name, core::parse_resume(options.resume));
  if (!point) return nullptr;
  const std::vector<core::Change> changes = core::changes_since(point->directory.path(), run.graph, run.resolved);
  core::require_accepted(changes, options.accept);
  begin_anew = core::beginning_anew(changes);
  return std::make_shared<core::ResumePoint>(*std::move(point));
}

/// The program's own observer, in the place of the one that a terminal would have. What the run keeps as its
/// configuration stays as it is.
void attach(Prepared& run, const TrainOptions& options) {
  const bool is_default = run.resolved.origin("/observe").kind == core::LayerKind::kDefault;
  if (is_default) run.graph.observe.clear();
  if (!options.observer) return;
  Components own("org.tenon.embedding", TENON_VERSION);
  own.add<Callback>("callback", "Hands events to the program that embeds the kernel", options.observer);
  // Nodes keep pointing into the catalogue that they were built from, which `run` keeps alive through the pipeline.
  run.catalogue = with_linked(run.catalogue, {own.content()->plugin()});
  run.graph.observe.push_back({.use = "observer:callback",
                               .component = "callback",
                               .info = run.catalogue.find("observer:callback"),
                               .with = core::Json::object(),
                               .pointer = "/observe",
                               .metric_key = {},
                               .metric_direction = {}});
}

/// The program whose command runs exports in a second process.
std::filesystem::path second_program(const Prepared& run) {
  std::filesystem::path program = core::install_library_folder().parent_path() / "bin/tenon";
  for (const std::string& name : run.graph.exports) {
    const core::Node& node = run.graph.at(name);
    const auto refuse = [&](const std::string& why) {
      throw engine::PlacedError(core::diagnose(run.resolved, node, tenon::Error(ErrorCode::kConfig, why)));
    };
    if (run.catalogue.plugin_of(*node.info).linked != nullptr) {
      refuse("is part of this program, and exports are verified in a second process, which lacks it: make it a plugin");
    }
    if (!std::filesystem::exists(program)) {
      refuse(fmt::format("needs {}, which verifies exports in a second process and is not there", program.string()));
    }
  }
  return program;
}

Result result_of(engine::RunOutcome outcome) {
  Result result;
  result.directory = std::move(outcome.directory);
  result.interrupted = outcome.interrupted != 0;
  result.stopped = std::move(outcome.stopped);
  result.first_step = outcome.first_step;
  result.steps = outcome.steps;
  result.epochs = outcome.epochs;
  result.seconds = outcome.train_seconds;
  result.samples_per_second = outcome.samples_per_second;
  result.checkpoint = outcome.checkpoint.empty() ? outcome.last_checkpoint : std::move(outcome.checkpoint);
  result.checkpoint_is_best = outcome.checkpoint_is_best;
  result.last_checkpoint = std::move(outcome.last_checkpoint);
  result.validation = std::move(outcome.validation);
  result.test = std::move(outcome.test);
  for (engine::ExportOutcome& each : outcome.exports) {
    result.exports.push_back({std::move(each.node), std::move(each.file), each.max_abs_error});
  }
  return result;
}

Result run(const Pipeline::Content& pipeline, const RuntimeOptions& runtime, const TrainOptions& options) {
  Result stopped;
  stopped.interrupted = true;
  const std::unique_lock turn = take_turn(options.stop);
  if (!turn) return stopped;
  engine::Interruption interruption;
  const std::stop_callback on_stop(options.stop, [&] { static_cast<void>(interruption.request(SIGTERM)); });

  Prepared prepared{pipeline.graph, pipeline.resolved, pipeline.catalogue};
  std::set<std::string> begin_anew;
  std::shared_ptr<core::ResumePoint> resume = find_resuming(prepared, options, begin_anew);
  if (resume == nullptr) require_first_values(pipeline);
  attach(prepared, options);
  const std::filesystem::path program = second_program(prepared);
  const OpenedEngine opened = open_engine(prepared.graph, prepared.resolved, prepared.catalogue, runtime);
  const engine::RunRequest request{.graph = std::move(prepared.graph),
                                   .resolved = std::move(prepared.resolved),
                                   .catalogue = std::move(prepared.catalogue),
                                   .libtorch = opened.runtime.libtorch(),
                                   .environment = opened.runtime.environment(),
                                   .program = program,
                                   .resume = std::move(resume),
                                   .accepted = options.accept,
                                   .begin_anew = std::move(begin_anew),
                                   .interruption = &interruption,
                                   .interrupt_at = {},
                                   .preflight = options.preflight};
  return result_of(opened.engine->run(request));
}

}  // namespace

Result Runtime::train(const Pipeline& pipeline, const TrainOptions& options) const {
  return guarded([&] {
    const std::shared_ptr<Content> content = content_;
    const Pipeline kept = pipeline;
    Result result;
    Worker worker;
    worker.run([&] { result = run(kept.content(), content->options(), options); });
    return result;
  });
}

}  // namespace tenon::kernel
