// Evaluation.
#include <engine/evaluate.hpp>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <tenon/components/metric.hpp>

namespace tenon::engine {

std::map<std::string, double> evaluate(const Components& components, Feed& feed, Collectives& ranks,
                                       const std::string& prefix, const at::Generator& generator) {
  const c10::NoGradGuard no_grad;  // not inference mode: tables that modules build lazily would break later training
  const core::Path& path = feed.path();
  const StepGraph graph(components, path);
  for (const std::string& name : path.metrics) {
    components.entering(name, "cannot reset", [&] { components.node<Metric>(name).reset(); });
  }
  feed.start(0, 0, 1);
  while (std::optional<DeviceBatch> batch = feed.next()) {
    if (batch->samples == 0) continue;
    const Values values = graph.forward(std::move(batch->fields), ranks, 0, false, 0, generator);
    for (const std::string& name : path.metrics) {
      const core::Node& node = components.graph().at(name);
      const auto doing = [&] { return fmt::format("cannot take {}", StepGraph::describe_inputs(node, values)); };
      components.entering(name, doing, [&] { components.node<Metric>(name).update(StepGraph::inputs(node, values)); });
    }
  }
  std::map<std::string, double> results;
  for (const std::string& name : path.metrics) {
    const std::vector<MetricOutput>& outputs = components.graph().at(name).info->metrics;
    components.entering(name, "cannot compute its value", [&] {
      const std::vector<double> values = components.node<Metric>(name).compute(ranks);
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
