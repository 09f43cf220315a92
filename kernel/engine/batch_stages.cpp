// Batches through their transforms, each held against what it promised.
#include <engine/batch_stages.hpp>

#include <algorithm>
#include <map>
#include <optional>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

namespace tenon::engine {
namespace {

bool same_type(at::ScalarType found, Dtype promised) {
  const at::ScalarType wanted = scalar_type(promised);
  return at::isFloatingType(wanted) ? at::isFloatingType(found) : found == wanted;
}

std::string text(const at::Tensor& tensor) {
  const at::IntArrayRef sizes = tensor.sizes();
  return to_string(FieldSpec{{}, dtype_of(tensor.scalar_type()), {sizes.begin(), sizes.end()}});
}

/// Symbols stand for one size in all fields of the batch.
void require_spec(const Tensors& fields, const Spec& spec) {
  std::map<std::string, int64_t> sizes;
  for (const FieldSpec& field : spec) {
    const at::Tensor* const tensor = fields.find(field.name);
    if (tensor == nullptr) {
      throw Error(ErrorCode::kPlugin, fmt::format("does not give field \"{}\", which its spec promises", field.name));
    }
    bool fits =
        same_type(tensor->scalar_type(), field.dtype) && tensor->dim() == static_cast<int64_t>(field.shape.size());
    for (std::size_t axis = 0; fits && axis < field.shape.size(); ++axis) {
      const Dim& dim = field.shape[axis];
      const int64_t size = tensor->size(static_cast<int64_t>(axis));
      if (dim.fixed()) fits = dim.size == size;
      if (!dim.fixed() && !dim.symbol.empty()) fits = sizes.try_emplace(dim.symbol, size).first->second == size;
    }
    if (!fits) {
      throw Error(ErrorCode::kPlugin, fmt::format("gives field \"{}\" as {}, but its spec says {}", field.name,
                                                  text(*tensor), to_string(field)));
    }
  }
}

/// Asked for, as the manifest alone says that there is one.
const BatchTransform& batch_transform(const Components& components, const std::string& node) {
  return components.entering(node, "ability", "cannot work on batches", [&]() -> const BatchTransform& {
    const void* const ability = components.component(node).ability(BatchTransform::kAbility);
    if (ability == nullptr) {
      throw Error(ErrorCode::kPlugin,
                  fmt::format("does not give the ability {} that its manifest lists", BatchTransform::kAbility));
    }
    return *static_cast<const BatchTransform*>(ability);
  });
}

}  // namespace

BatchStages::BatchStages(const Components& components, const core::Path& path, uint64_t seed)
    : components_(components), seed_(seed) {
  for (const core::Node* node = &components.graph().at(path.data); node->name != path.loader;) {
    stages_.push_back({node, &batch_transform(components, node->name), name_key(node->name), {}});
    node = &components.graph().at(node->inputs.front());
  }
  std::reverse(stages_.begin(), stages_.end());
}

Spec BatchStages::spec(Spec fields) {
  for (Stage& stage : stages_) {
    components_.entering(stage.node->name, "spec", "cannot tell its fields",
                         [&] { stage.spec = fields = stage.transform->spec(fields); });
  }
  return fields;
}

Tensors BatchStages::apply(Tensors fields, const BatchKey& key) const {
  const at::NoGradGuard no_gradients;
  for (const Stage& stage : stages_) {
    const auto doing = [&] { return fmt::format("cannot transform batch {} of epoch {}", key.index, key.epoch); };
    components_.entering(stage.node->name, "apply_batch", doing, [&] {
      Rng random(random_key({seed_, stage.key, static_cast<uint64_t>(key.epoch), static_cast<uint64_t>(key.index),
                             static_cast<uint64_t>(key.rank)}));
      stage.transform->apply_batch(fields, random, {key.epoch, key.epochs});
      require_spec(fields, stage.spec);
    });
  }
  return fields;
}

}  // namespace tenon::engine
