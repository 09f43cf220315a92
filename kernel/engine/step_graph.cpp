// Running models along the wires.
#include <engine/step_graph.hpp>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/graph/value_type.hpp>
#include <engine/autocast.hpp>
#include <tenon/components/model.hpp>
#include <tenon/random.hpp>

namespace tenon::engine {

std::string describe(const at::Tensor& tensor) {
  if (!tensor.defined()) return "nothing";
  return fmt::format("{}[{}]", name_of(dtype_of(tensor.scalar_type())), fmt::join(tensor.sizes(), ", "));
}

at::Tensor loss_weight(Loss& loss, const core::Node& node, const Tensors& batch, int64_t samples) {
  at::Tensor weight = loss.weight(StepGraph::batch_inputs(node, batch));
  if (weight.defined()) return weight;
  const c10::Device device = batch.empty() ? c10::Device(c10::kCPU) : batch.begin()->second.device();
  return at::full({}, static_cast<double>(samples), at::TensorOptions(at::kDouble).device(device));
}

StepGraph::StepGraph(const Components& components, const core::Path& path, const Precision* precision)
    : components_(components), precision_(precision) {
  for (const std::string& name : path.step) {
    const core::Node& node = components.graph().at(name);
    if (node.kind == "model") models_.push_back(&node);
  }
}

Tensors StepGraph::inputs(const core::Node& node, const Values& values) {
  Tensors in;
  for (const core::Wire& wire : node.wires) in.set(wire.port, values.find(wire.source)->second.at(wire.output));
  return in;
}

Tensors StepGraph::measured_inputs(const core::Node& node, const Values& values) const {
  Tensors in;
  for (const auto& [port, tensor] : inputs(node, values)) {
    in.set(port, precision_ != nullptr && tensor.is_floating_point() ? tensor.to(precision_->storage()) : tensor);
  }
  return in;
}

Tensors StepGraph::batch_inputs(const core::Node& node, const Tensors& batch) {
  Tensors in;
  for (const core::Wire& wire : node.wires) {
    if (wire.from_batch()) in.set(wire.port, batch.at(wire.output));
  }
  return in;
}

std::string StepGraph::describe_inputs(const core::Node& node, const Values& values) {
  std::vector<std::string> parts;
  for (const core::Wire& wire : node.wires) {
    const auto source = values.find(wire.source);
    const at::Tensor* const tensor = source == values.end() ? nullptr : source->second.find(wire.output);
    parts.push_back(fmt::format("{} {} from {}.{}", wire.port, tensor == nullptr ? "nothing" : describe(*tensor),
                                wire.source, wire.output));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

Tensors StepGraph::run_model(const core::Node& node, const Tensors& in, StepContext& context) const {
  Tensors out = components_.node<Model>(node.name).root()(in, context);
  for (const Port& port : node.info->ports.out) {
    if (port.pass || port.open) continue;
    for (const std::string& name : core::port_names(port, node.with)) {
      if (out.find(name) != nullptr) continue;
      throw Error(ErrorCode::kPlugin, fmt::format("gave no output \"{}\", which its manifest declares", name));
    }
  }
  return out;
}

Values StepGraph::forward(Tensors batch, Collectives& ranks, int64_t micro_batch, bool training, uint64_t key,
                          const at::Generator& generator) const {
  const at::DeviceType device = batch.empty() ? at::kCPU : batch.begin()->second.device().type();
  const AutocastGuard autocast(device, precision_ == nullptr ? std::nullopt : precision_->autocast());
  Values values;
  values.emplace(core::kBatch, std::move(batch));
  for (const core::Node* const node : models_) {
    const auto doing = [&] { return fmt::format("cannot take {}", describe_inputs(*node, values)); };
    components_.entering(node->name, "forward", doing, [&] {
      const bool trains = training && !components_.graph().at(node->owner()).frozen;
      StepContext context(ranks, micro_batch, trains, random_key({key, name_key(node->name)}), generator);
      values.emplace(node->name, run_model(*node, inputs(*node, values), context));
    });
  }
  return values;
}

}  // namespace tenon::engine
