// One path over loaded weights.
#include <engine/evaluation.hpp>

#include <ATen/ATen.h>

#include <core/storage/checkpoint.hpp>
#include <engine/device.hpp>
#include <engine/evaluate.hpp>
#include <engine/models.hpp>
#include <engine/plan.hpp>
#include <engine/setup.hpp>
#include <engine/training.hpp>

namespace tenon::engine {

std::map<std::string, double> evaluate_checkpoint(const EvaluateRequest& request) {
  const core::Graph& graph = request.graph;
  const core::Path& path = request.test ? graph.test.value().path : graph.validate.value().path;
  const c10::Device device = prepare_device(graph, request.resolved);
  Components components(graph, request.resolved, request.catalogue);
  core::ComponentHandle plain;
  const Precision& precision = precision_of(components, plain);
  OneRank alone;
  Feed feed(components, path, static_cast<uint64_t>(graph.run.seed));
  static_cast<void>(plan_networks(components, {&feed}, precision));
  open_datasets(components, &path);
  feed.connect(alone, device, precision.storage());

  const core::Checkpoint checkpoint = core::read_checkpoint(request.checkpoint);
  const at::TensorOptions options = at::TensorOptions(precision.storage()).device(device);
  for (const std::string& name : path.step) {
    if (graph.at(name).kind != "model") continue;
    components.entering(name, "cannot take its weights", [&] {
      auto& model = components.node<Model>(name);
      materialize_untrained(model, options);
      load_model(model, name, checkpoint);
    });
  }
  const InterruptionPoll poll(nullptr, alone);
  const Evaluator evaluator(components, alone, precision, poll, make_generator(device));
  return evaluator.measure(feed, path.name);
}

}  // namespace tenon::engine
