// Building and trying networks without memory.
#include <engine/plan.hpp>

#include <algorithm>
#include <optional>
#include <set>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/graph/value_type.hpp>
#include <core/text/suggest.hpp>
#include <engine/engine.hpp>
#include <engine/meta_kernels.hpp>
#include <engine/predicting.hpp>
#include <tenon/components/loss.hpp>
#include <tenon/components/model.hpp>

namespace tenon::engine {
namespace {

constexpr int64_t kTrialBatch = 2;

/// A batch as the feed would give it, without values; nothing when a size is known only from data.
std::optional<Tensors> trial_batch(const Feed& feed, c10::Device device, at::ScalarType storage) {
  Tensors batch;
  for (const FieldSpec& field : feed.fields()) {
    std::vector<int64_t> shape;
    for (const Dim& dim : field.shape) {
      const bool samples = dim == Dim("N");
      if (!dim.fixed() && !samples) return std::nullopt;
      shape.push_back(samples ? kTrialBatch : dim.size);
    }
    const at::ScalarType type = scalar_type(field.dtype);
    batch.set(field.name,
              at::zeros(shape, at::TensorOptions(at::isFloatingType(type) ? storage : type).device(device)));
  }
  return batch;
}

}  // namespace

FieldSpec output_field(const at::Tensor& tensor, const std::string& port) {
  FieldSpec field{port, dtype_of(tensor.scalar_type()), {}};
  for (int64_t axis = 0; axis < tensor.dim(); ++axis) {
    const bool batch = axis == 0 && tensor.size(0) == kTrialBatch;
    field.shape.push_back(batch ? Dim("N") : Dim(tensor.size(axis)));
  }
  return field;
}

namespace {

/// Tries one path. Models that are built already are only run.
class PathPlan {
 public:
  PathPlan(Components& components, const Feed& feed, const Precision& precision, std::set<std::string>& built,
           Untried& untried)
      : components_(components), feed_(feed), precision_(precision), built_(built), untried_(untried) {}

  Values run() {
    const c10::NoGradGuard no_grad;
    require_fields();
    std::optional<Tensors> batch = trial_batch(feed_, c10::kMeta, at::kFloat);  // as meta parameters are
    if (batch) {
      values_.emplace(core::kBatch, *std::move(batch));
    }
    for (const std::string& name : feed_.path().step) {
      const core::Node& node = components_.graph().at(name);
      refuse_texts(node);
      if (node.kind == "model") model(node);
      if (node.kind == "loss") loss(node);
      if (node.kind == "metric") check_types(node);
    }
    for (const core::PredictedOutput& output : outputs()) {
      const auto source = values_.find(output.source);
      if (source != values_.end()) require_form(components_.resolved(), output, source->second.at(output.output));
    }
    return std::move(values_);
  }

 private:
  /// What this path shows, which only "predict" does.
  [[nodiscard]] std::vector<core::PredictedOutput> outputs() const {
    const auto& predict = components_.graph().predict;
    const bool shows = predict && predict->path.name == feed_.path().name;
    return shows ? predict->outputs : std::vector<core::PredictedOutput>();
  }

  /// Every field of the batch that is referred to has to be in the stream: manifests cannot tell all of them.
  void require_fields() const {
    for (const std::string& name : feed_.path().step) {
      const core::Node& node = components_.graph().at(name);
      for (const core::Wire& wire : node.wires) {
        if (wire.from_batch()) require_field(wire.output, node.pointer + "/in/" + wire.port);
      }
    }
    for (const core::PredictedOutput& output : outputs()) {
      if (output.source == core::kBatch) {
        require_field(output.output, output_pointer(components_.resolved(), output));
        require_row(components_.resolved(), output, feed_);
      }
    }
  }

  void require_field(const std::string& name, const std::string& pointer) const {
    if (find(feed_.fields(), name) != nullptr) return;
    std::vector<std::string> sources;
    std::vector<std::string> texts;
    for (const FieldSpec& field : feed_.fields()) {
      sources.push_back(fmt::format("{}.{}", core::kBatch, field.name));
      texts.push_back(fmt::format("{} {}", field.name, to_string(field)));
    }
    core::Diagnostic diagnostic = components_.resolved().error_at_value(
        pointer, "unknown-field", fmt::format("the batch of {} has no field \"{}\"", feed_.path().name, name));
    diagnostic.label = core::did_you_mean(fmt::format("{}.{}", core::kBatch, name), sources);
    diagnostic.notes.push_back(fmt::format("fields of \"{}\": {}", feed_.path().data, fmt::join(texts, ", ")));
    throw PlacedError(std::move(diagnostic));
  }

  [[nodiscard]] bool inputs_known(const core::Node& node) const {
    for (const core::Wire& wire : node.wires) {
      if (!values_.contains(wire.source)) return false;
    }
    return true;
  }

  void build(const core::Node& node) {
    Spec in;
    for (const core::Wire& wire : node.wires) {
      if (wire.from_batch()) {
        in.push_back(feed_.fields().at(static_cast<std::size_t>(index_of(feed_.fields(), wire.output))));
        in.back().name = wire.port;
      } else if (const auto source = values_.find(wire.source); source != values_.end()) {
        in.push_back(output_field(source->second.at(wire.output), wire.port));
      } else {
        in.push_back({wire.port, Dtype::kFloat32, {Dim("N")}});
      }
    }
    components_.entering(node.name, "build", "cannot build its network",
                         [&] { components_.node<Model>(node.name).build(in); });
    components_.note_built(node.owner(), {std::move(in), feed_.path().name, feed_.path().data});
  }

  /// Texts that come to a port whose types are known to leave them out: what to do is told, not that types differ.
  void refuse_texts(const core::Node& node) const {
    for (const core::Wire& wire : node.wires) {
      const FieldSpec* const field = wire.from_batch() ? find(feed_.stream().fields(), wire.output) : nullptr;
      if (field == nullptr || !may_be_text(*field)) continue;
      for (const Port& port : node.info->ports.in) {
        const std::vector<std::string> names = core::port_names(port, node.with);
        if (std::find(names.begin(), names.end(), wire.port) == names.end() || port.dtypes.empty()) continue;
        if (std::find(port.dtypes.begin(), port.dtypes.end(), Dtype::kUint8) != port.dtypes.end()) continue;
        const std::string message = fmt::format(
            "{} \"{}\" port \"{}\" wants {}, but \"batch.{}\" is text ({}): put transform:encode_categories before "
            "the loader",
            node.kind, node.name, wire.port, core::describe_rule(port, node.with), wire.output, to_string(*field));
        core::Diagnostic diagnostic = core::diagnose(components_.resolved(), node.pointer + "/in/" + wire.port,
                                                     Error(ErrorCode::kConfig, message));
        diagnostic.code = "text-field";
        throw PlacedError(std::move(diagnostic));
      }
    }
  }

  /// Element types against the component's port rules, also those that manifests could not tell.
  void check_types(const core::Node& node) const {
    for (const core::Wire& wire : node.wires) {
      const auto source = values_.find(wire.source);
      const at::Tensor* const tensor = source == values_.end() ? nullptr : source->second.find(wire.output);
      if (tensor == nullptr) continue;
      const Dtype dtype = dtype_of(tensor->scalar_type());
      for (const Port& port : node.info->ports.in) {
        const std::vector<std::string> names = core::port_names(port, node.with);
        if (std::find(names.begin(), names.end(), wire.port) == names.end() || port.dtypes.empty()) continue;
        if (std::find(port.dtypes.begin(), port.dtypes.end(), dtype) != port.dtypes.end()) continue;
        const std::string message =
            fmt::format("{} \"{}\" port \"{}\" wants {}, but \"{}.{}\" gives {}", node.kind, node.name, wire.port,
                        core::describe_rule(port, node.with), wire.source, wire.output, describe(*tensor));
        throw PlacedError(core::diagnose(components_.resolved(), node.pointer + "/in/" + wire.port,
                                         Error(ErrorCode::kConfig, message)));
      }
    }
  }

  void model(const core::Node& node) {
    check_types(node);
    if (built_.insert(node.owner()).second) build(node);
    if (!inputs_known(node)) {
      untried_.emplace(node.name, "the sizes of its inputs are known only from data");
      return;
    }
    const auto doing = [&] { return fmt::format("cannot take {}", StepGraph::describe_inputs(node, values_)); };
    components_.entering(node.name, "forward", doing, [&] {
      try {
        StepContext context(ranks_, 0, true, 0, at::detail::createCPUGenerator());
        const StepGraph graph(components_, feed_.path(), &precision_);
        values_.emplace(node.name, graph.run_model(node, StepGraph::inputs(node, values_), context));
      } catch (const c10::NotImplementedError& error) {
        nn::Module::clear_failure();
        untried_.emplace(node.name, error.what_without_backtrace());
      }
    });
  }

  void loss(const core::Node& node) {
    check_types(node);
    if (!inputs_known(node)) return;
    const auto doing = [&] { return fmt::format("cannot take {}", StepGraph::describe_inputs(node, values_)); };
    components_.entering(node.name, "sum", doing, [&] {
      Loss& component = components_.node<Loss>(node.name);
      try {
        StepContext context(ranks_, 0, true, 0, at::detail::createCPUGenerator());
        const at::Tensor sum = component.sum(StepGraph::inputs(node, values_), context);
        const at::Tensor weight = loss_weight(component, node, values_.find(core::kBatch)->second, kTrialBatch);
        if (sum.dim() != 0 || weight.dim() != 0) {
          throw Error(ErrorCode::kPlugin, fmt::format("sum and weight must be scalars, but are {} and {}",
                                                      describe(sum), describe(weight)));
        }
      } catch (const c10::NotImplementedError& error) {
        untried_.emplace(node.name, error.what_without_backtrace());
      }
    });
  }

  Components& components_;
  const Feed& feed_;
  const Precision& precision_;
  OneRank ranks_;
  std::set<std::string>& built_;
  Untried& untried_;
  Values values_;
};

}  // namespace

Untried plan_networks(Components& components, const std::vector<const Feed*>& feeds, const Precision& precision,
                      Tried* tried) {
  register_meta_kernels();
  std::set<std::string> built;
  Untried untried;
  for (const Feed* const feed : feeds) {
    Values values = PathPlan(components, *feed, precision, built, untried).run();
    if (tried != nullptr) tried->emplace(feed->path().name, std::move(values));
  }
  return untried;
}

void try_on_zeros(const Components& components, const Feed& feed, const Precision& precision, c10::Device device) {
  std::optional<Tensors> batch = trial_batch(feed, device, feed.storage());
  if (!batch) return;
  const c10::NoGradGuard no_grad;
  const StepGraph graph(components, feed.path(), &precision);
  OneRank ranks;
  [[maybe_unused]] const Values values =
      graph.forward(*std::move(batch), ranks, 0, false, 0, at::detail::createCPUGenerator());
}

}  // namespace tenon::engine
