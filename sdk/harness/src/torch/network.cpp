// What an engine does for a network before and in a step.
#include <tenon/harness/network.hpp>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <tenon/error.hpp>
#include <tenon/random.hpp>

namespace tenon::harness {

void materialize(nn::Module& root, uint64_t seed, at::ScalarType dtype) {
  root.visit_params([&](const std::string& name, nn::Param& slot) {
    at::Tensor value = at::empty(slot.shape(), at::TensorOptions(at::kFloat));
    at::Generator random = at::detail::createCPUGenerator(random_key({seed, name_key(name)}));
    slot.initialize(value, random);
    slot.set(value.to(dtype).requires_grad_(true));
  });
  root.visit_buffers([&](const std::string& /*name*/, nn::Buffer& slot) {
    const bool widen = at::isFloatingType(slot.dtype()) && dtype == at::kDouble;
    slot.set(at::full(slot.shape(), slot.fill(), at::TensorOptions(widen ? dtype : slot.dtype())));
  });
}

Tensors run(nn::Module& root, Collectives& ranks, const Tensors& in, bool training, uint64_t key) {
  StepContext context(ranks, 0, training, key, at::detail::createCPUGenerator());
  return root(in, context);
}

Tensors run(nn::Module& root, const Tensors& in, bool training, uint64_t key) {
  OneRank alone;
  return run(root, alone, in, training, key);
}

void build(Model& model, const Spec& in, uint64_t seed, at::ScalarType dtype) {
  model.build(in);
  model.root().visit_params([](const std::string& name, nn::Param& slot) {
    if (slot.value().device().is_meta()) return;
    throw Error(ErrorCode::kPlugin,
                "the parameter \"" + name + "\" has memory already: build() may only declare slots");
  });
  materialize(model.root(), seed, dtype);
}

std::vector<std::string> param_names(nn::Module& root) {
  std::vector<std::string> names;
  root.visit_params([&](const std::string& name, nn::Param& /*slot*/) { names.push_back(name); });
  return names;
}

Tensors tensors_of(nn::Module& root) {
  Tensors tensors;
  root.visit_params([&](const std::string& name, nn::Param& slot) { tensors.set(name, slot.value().detach()); });
  root.visit_buffers([&](const std::string& name, nn::Buffer& slot) { tensors.set(name, slot.value()); });
  return tensors;
}

Spec spec_of(const Tensors& tensors) {
  Spec spec;
  for (const auto& [name, tensor] : tensors) {
    FieldSpec field{name, dtype_of(tensor.scalar_type()), {}};
    for (const int64_t size : tensor.sizes()) field.shape.emplace_back(size);
    if (!field.shape.empty()) field.shape.front() = Dim("N");
    spec.push_back(std::move(field));
  }
  return spec;
}

}  // namespace tenon::harness
