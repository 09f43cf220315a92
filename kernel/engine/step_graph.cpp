// Running models along the wires.
#include <engine/step_graph.hpp>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/graph/value_type.hpp>
#include <core/text/suggest.hpp>
#include <engine/autocast.hpp>
#include <engine/engine.hpp>
#include <tenon/components/model.hpp>
#include <tenon/nn/module.hpp>
#include <tenon/random.hpp>

namespace tenon::engine {

namespace {

/// Axes whose size a network was not built for may have any.
bool has_sizes(const at::Tensor& tensor, const std::vector<Dim>& wanted) {
  if (tensor.dim() != static_cast<int64_t>(wanted.size())) return false;
  for (std::size_t axis = 0; axis < wanted.size(); ++axis) {
    if (wanted[axis].fixed() && wanted[axis].size != tensor.size(static_cast<int64_t>(axis))) return false;
  }
  return true;
}

/// A tensor as a field like another one: axes that have names there keep them.
FieldSpec field_of(const at::Tensor& tensor, const FieldSpec& like) {
  FieldSpec field{like.name, dtype_of(tensor.scalar_type()), {}};
  for (int64_t axis = 0; axis < tensor.dim(); ++axis) {
    const auto place = static_cast<std::size_t>(axis);
    const bool named = place < like.shape.size() && !like.shape[place].fixed();
    field.shape.push_back(named ? like.shape[place] : Dim(tensor.size(axis)));
  }
  return field;
}

}  // namespace

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
    : components_(components), precision_(precision), path_(path.name), data_(path.data) {
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

/// Called with what forward threw in flight.
void StepGraph::refuse_other_sizes(const core::Node& node, const Tensors& in) const {
  const Components::Built* const built = components_.built(node.owner());
  if (built == nullptr) return;
  for (const core::Wire& wire : node.wires) {
    const FieldSpec* const wanted = find(built->in, wire.port);
    const at::Tensor* const given = in.find(wire.port);
    if (wanted == nullptr || given == nullptr || has_sizes(*given, wanted->shape)) continue;
    const auto stream = [&](const std::string& path, const std::string& data) {
      return wire.from_batch() ? fmt::format("{} of {}", core::quoted(data), path)
                               : fmt::format("{} on {}", core::quoted(wire.source + "." + wire.output), path);
    };
    core::Diagnostic diagnostic = components_.resolved().error_at_value(
        fmt::format("{}/in/{}", node.pointer, wire.port), "shape-mismatch",
        fmt::format("{} {} port {} takes {}, as {} gives it, but {} gives {}", node.kind, core::quoted(node.name),
                    core::quoted(wire.port), to_string(*wanted), stream(built->path, built->data), stream(path_, data_),
                    to_string(field_of(*given, *wanted))));
    diagnostic.label = fmt::format("let {} and {} give the same sizes", core::quoted(built->data), core::quoted(data_));
    const Error said = current_error(ErrorCode::kPlugin);
    const std::string module = nn::Module::last_failure();
    diagnostic.notes.push_back(fmt::format(
        "{}{}: {}", node.use(), module.empty() ? "" : fmt::format(", in its module \"{}\"", module), said.what()));
    nn::Module::clear_failure();
    throw PlacedError(std::move(diagnostic));
  }
}

Tensors StepGraph::run_model(const core::Node& node, const Tensors& in, StepContext& context) const {
  Tensors out;
  try {
    out = components_.node<Model>(node.name).root()(in, context);
  } catch (const c10::NotImplementedError&) {
    throw;
  } catch (...) {
    if (current_error(ErrorCode::kPlugin).code() == ErrorCode::kPlugin) refuse_other_sizes(node, in);
    throw;
  }
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
