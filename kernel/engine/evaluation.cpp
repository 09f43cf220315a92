// One path over loaded weights.
#include <engine/evaluation.hpp>

#include <array>

#include <ATen/ATen.h>

#include <core/storage/checkpoint.hpp>
#include <engine/device.hpp>
#include <engine/evaluate.hpp>
#include <engine/plan.hpp>
#include <engine/ranks.hpp>
#include <engine/restore.hpp>
#include <engine/setup.hpp>
#include <engine/training.hpp>

namespace tenon::engine {

namespace {

/// The path of that name, which the pipeline has.
const core::Path& path_of(const core::Graph& graph, const std::string& name) {
  for (const core::Validation& validation : graph.validations) {
    if (validation.path.name == name) return validation.path;
  }
  return graph.test.value().path;
}

/// One rank's part.
std::map<std::string, double> measure(const EvaluateRequest& request, Collectives& ranks) {
  const core::Graph& graph = request.graph;
  const core::Path& path = path_of(graph, request.path);
  const c10::Device device = prepare_device(graph, request.resolved);
  Components components(graph, request.resolved, request.catalogue);
  core::ComponentHandle plain;
  const Precision& precision = precision_of(components, plain);
  Feed feed(components, path, static_cast<uint64_t>(graph.run.seed));
  static_cast<void>(plan_networks(components, {&feed}, precision));
  open_datasets(components, std::array{&path});
  feed.connect(ranks, device, precision.storage());

  restore_path(components, path, core::read_checkpoint(request.checkpoint),
               at::TensorOptions(precision.storage()).device(device));
  const InterruptionPoll poll(nullptr, ranks);
  const Evaluator evaluator(components, ranks, precision, poll, make_generator(device));
  return evaluator.measure(feed, path.name);
}

}  // namespace

std::map<std::string, double> evaluate_checkpoint(const EvaluateRequest& request) {
  std::map<std::string, double> metrics;
  const bool several =
      run_in_process(request.graph, request.resolved, request.catalogue, [&](int64_t rank, Collectives& ranks) {
        return [&request, &metrics, &ranks, rank] {
          auto own = measure(request, ranks);
          if (rank == 0) metrics = std::move(own);
        };
      });
  if (several) return metrics;
  OneRank alone;
  return measure(request, alone);
}

}  // namespace tenon::engine
