// Evaluation.
#include <engine/evaluate.hpp>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <engine/rescaling.hpp>
#include <tenon/components/metric.hpp>

namespace tenon::engine {

std::map<std::string, double> Evaluator::measure(Feed& feed, const std::string& prefix) const {
  const c10::NoGradGuard no_grad;  // not inference mode: tables that modules build lazily would break later training
  const core::Path& path = feed.path();
  const StepGraph graph(components_, path, &precision_);
  for (const std::string& name : path.metrics) {
    components_.entering(name, "reset", "cannot reset", [&] { components_.node<Metric>(name).reset(); });
  }
  feed.start(0, 0, 1);
  while (std::optional<DeviceBatch> batch = feed.next(poll_.while_waiting())) {
    poll_.together();
    if (batch->samples > 0) update(graph, path, *std::move(batch));
  }
  return compute(path, prefix);
}

void Evaluator::update(const StepGraph& graph, const core::Path& path, DeviceBatch batch) const {
  const Values values = graph.forward(std::move(batch.fields), ranks_, 0, false, 0, generator_);
  for (const std::string& name : path.metrics) {
    const core::Node& node = components_.graph().at(name);
    const auto doing = [&] { return fmt::format("cannot take {}", StepGraph::describe_inputs(node, values)); };
    components_.entering(name, "update", doing,
                         [&] { components_.node<Metric>(name).update(on_data_scale(graph, path, node, values)); });
  }
}

Tensors Evaluator::on_data_scale(const StepGraph& graph, const core::Path& path, const core::Node& node,
                                 const Values& values) const {
  Tensors in;
  for (const auto& [port, tensor] : graph.measured_inputs(node, values)) {
    in.set(port, undo_rescaling(components_, path, node.name, port, tensor).to(tensor.scalar_type()));
  }
  return in;
}

std::map<std::string, double> Evaluator::compute(const core::Path& path, const std::string& prefix) const {
  std::map<std::string, double> results;
  for (const std::string& name : path.metrics) {
    const std::vector<MetricOutput>& outputs = components_.graph().at(name).info->metrics;
    components_.entering(name, "compute", "cannot compute its value", [&] {
      const std::vector<double> values = components_.node<Metric>(name).compute(ranks_);
      if (values.size() != outputs.size()) {
        throw Error(ErrorCode::kPlugin,
                    fmt::format("gave {} values where its manifest declares {}", values.size(), outputs.size()));
      }
      for (std::size_t i = 0; i < values.size(); ++i) {
        results[i == 0 ? fmt::format("{}.{}", prefix, name) : fmt::format("{}.{}.{}", prefix, name, outputs[i].name)] =
            values[i];
      }
    });
  }
  return results;
}

}  // namespace tenon::engine
