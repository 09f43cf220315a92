// Giving a network memory and numbers, and running it, without an engine.
#pragma once

#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>

#include <tenon/components/distributed.hpp>
#include <tenon/nn/module.hpp>
#include <tenon/random.hpp>

namespace tenon::test {

/// Initial values for all slots, keyed by name; parameters take gradients.
inline void materialize(nn::Module& root, uint64_t seed) {
  root.visit_params([&](const std::string& name, nn::Param& slot) {
    at::Tensor value = at::empty(slot.shape(), at::TensorOptions(at::kFloat));
    at::Generator random = at::detail::createCPUGenerator(random_key({seed, name_key(name)}));
    slot.initialize(value, random);
    slot.set(value.requires_grad_(true));
  });
  root.visit_buffers([](const std::string& /*name*/, nn::Buffer& slot) {
    slot.set(at::full(slot.shape(), slot.fill(), at::TensorOptions(slot.dtype())));
  });
}

/// One forward pass, keyed by `key`.
inline Tensors run(nn::Module& root, Collectives& ranks, const Tensors& in, bool training, uint64_t key = 1) {
  StepContext context(ranks, 0, training, key, at::detail::createCPUGenerator());
  return root(in, context);
}

[[nodiscard]] inline std::vector<std::string> param_names(nn::Module& root) {
  std::vector<std::string> names;
  root.visit_params([&](const std::string& name, nn::Param& /*slot*/) { names.push_back(name); });
  return names;
}

}  // namespace tenon::test
