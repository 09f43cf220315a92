// Look-up in a graph.
#include <core/graph/graph.hpp>

#include <fmt/format.h>

#include <tenon/error.hpp>

namespace tenon::core {

std::string_view name_of(PredictedOutput::Form form) noexcept {
  switch (form) {
    case PredictedOutput::Form::kSoftmax: return "softmax";
    case PredictedOutput::Form::kSigmoid: return "sigmoid";
    case PredictedOutput::Form::kArgmax: return "argmax";
    case PredictedOutput::Form::kValue: break;
  }
  return "value";
}

std::string metric_key(std::string_view path, const Node& metric, std::size_t output) {
  if (output == 0) return fmt::format("{}.{}", path, metric.name);
  return fmt::format("{}.{}.{}", path, metric.name, metric.info->metrics.at(output).name);
}

namespace {

void add_measured(const Graph& graph, std::vector<const Path*>& paths) {
  for (const Validation& validation : graph.validations) paths.push_back(&validation.path);
  if (graph.test) paths.push_back(&graph.test->path);
  if (graph.predict) paths.push_back(&graph.predict->path);
}

}  // namespace

std::vector<const Path*> Graph::paths() const {
  std::vector<const Path*> paths;
  for (const Phase& phase : fit.phases) paths.push_back(&phase.path);
  add_measured(*this, paths);
  return paths;
}

std::vector<const Path*> Graph::streams() const {
  std::vector<const Path*> paths{&fit.path};
  for (const Phase& phase : fit.phases) {
    if (phase.own_data) paths.push_back(&phase.path);
  }
  add_measured(*this, paths);
  return paths;
}

const Node* Graph::find(std::string_view node) const noexcept {
  const auto found = index.find(node);
  return found == index.end() ? nullptr : &nodes[found->second];
}

const Node& Graph::at(std::string_view node) const {
  if (const Node* const found = find(node)) return *found;
  throw Error(ErrorCode::kConfig, fmt::format("the graph has no node \"{}\"", node));
}

}  // namespace tenon::core
