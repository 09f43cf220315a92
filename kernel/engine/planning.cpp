// Reports on a plan.
#include <engine/planning.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include <ATen/ATen.h>

#include <engine/device.hpp>
#include <engine/models.hpp>
#include <engine/optimization.hpp>
#include <engine/plan.hpp>
#include <engine/setup.hpp>
#include <engine/streams.hpp>
#include <engine/training.hpp>
#include <tenon/components/distributed.hpp>
#include <tenon/components/schedule.hpp>

namespace tenon::engine {
namespace {

/// The fields behind each node of a stream.
void report_stream(const core::Graph& graph, const Feed& feed, PlanReport& report) {
  const core::Path& path = feed.path();
  const std::vector<const core::Node*> stages = stages_of(graph, path);
  const Stream& stream = feed.stream();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    for (const FieldSpec& field : stream.fields_after(static_cast<int>(i))) {
      report.values.push_back({path.name, stages[i]->name, field});
    }
  }
  for (const FieldSpec& field : feed.loader_fields()) report.values.push_back({path.name, path.loader, field});
  if (path.data == path.loader) return;
  for (const FieldSpec& field : feed.fields()) report.values.push_back({path.name, path.data, field});
}

}  // namespace

PlanReport plan_report(const PlanRequest& request) {
  const core::Graph& graph = request.graph;
  static_cast<void>(prepare_device(graph, request.resolved));
  Components components(graph, request.resolved, request.catalogue);
  GuardedPrecision guarded;
  const Precision& precision = precision_of(components, guarded);
  std::vector<std::unique_ptr<Feed>> feeds;
  std::vector<const Feed*> planned;
  for (const core::Path* const path : graph.streams()) {
    feeds.push_back(std::make_unique<Feed>(components, *path, static_cast<uint64_t>(graph.run.seed)));
    planned.push_back(feeds.back().get());
  }
  PlanReport report;
  Tried tried;
  report.untried = plan_networks(components, planned, precision, &tried);
  for (const std::string& optimizer : graph.fit.optimizers) {
    static_cast<void>(plan_groups(components, graph.at(optimizer)));  // globs that match nothing
  }
  for (const Feed* const feed : planned) {
    report_stream(graph, *feed, report);
    const core::Path& path = feed->path();
    for (const std::string& name : path.step) {
      const auto values = tried.at(path.name).find(name);
      if (values == tried.at(path.name).end()) continue;
      for (const auto& [output, tensor] : values->second) {
        report.values.push_back({path.name, name, output_field(tensor, output)});
      }
    }
  }
  visit_models(components, [&](const core::Node& node, Model& model) {
    int64_t& count = report.parameters[node.name];
    model.root().visit_params([&](const std::string& /*name*/, nn::Param& slot) { count += elements(slot.shape()); });
  });
  return report;
}

ScheduleCurve plan_schedule(const ScheduleCurveRequest& request) {
  const core::Graph& graph = request.graph;
  const c10::Device device = prepare_device(graph, request.resolved);
  const Components components(graph, request.resolved, request.catalogue);
  open_datasets(components, std::array{&graph.fit.path});
  Feed feed(components, graph.fit.path, static_cast<uint64_t>(graph.run.seed));
  OneRank alone;
  feed.connect(alone, device, at::kFloat);
  const TrainingPlan plan(graph.fit, feed);

  const core::Node& node = graph.at(request.node);
  const core::Node& optimizer = graph.at(node.of.front());
  ScheduleCurve curve;
  curve.field = node.field;
  curve.of = optimizer.name;
  curve.configured = optimizer.with.at(node.field).get<double>();
  curve.planned = plan.steps;
  curve.steps_per_epoch = plan.steps_per_epoch;
  const int64_t last = std::max<int64_t>(plan.steps - 1, 0);
  const int64_t points = std::clamp<int64_t>(request.points, 1, last + 1);
  Progress progress;
  progress.planned = plan.steps;
  progress.steps_per_epoch = plan.steps_per_epoch;
  progress.samples_per_step = feed.batch_size() * graph.fit.accumulate;
  Schedules schedules(components);
  if (const auto uncut = uncut_plan(request.resolved, graph.fit, feed)) {
    schedules.shorten(node, progress, {uncut->steps, uncut->steps_per_epoch});
  }
  for (int64_t i = 0; i < points; ++i) {
    const double place = points == 1 ? 0 : static_cast<double>(i) / static_cast<double>(points - 1);
    progress.applied = std::llround(static_cast<double>(last) * place);
    progress.epoch = progress.applied / plan.steps_per_epoch;
    const double factor = schedules.factor(node, progress);
    curve.values.emplace_back(progress.applied, factor * curve.configured);
  }
  return curve;
}

}  // namespace tenon::engine
