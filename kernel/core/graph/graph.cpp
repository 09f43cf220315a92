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

const Node* Graph::find(std::string_view node) const noexcept {
  const auto found = index.find(node);
  return found == index.end() ? nullptr : &nodes[found->second];
}

const Node& Graph::at(std::string_view node) const {
  if (const Node* const found = find(node)) return *found;
  throw Error(ErrorCode::kConfig, fmt::format("the graph has no node \"{}\"", node));
}

}  // namespace tenon::core
