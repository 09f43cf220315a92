// Two layers, a norm with buffers, and an output of whole numbers.
#include <conformance/own_model.hpp>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <tenon/nn/linear.hpp>

namespace tenon::conformance {

class OwnModel::Network final : public nn::Module {
 public:
  Tensors forward(const Tensors& in, StepContext& context) override {
    const at::Tensor hidden = at::relu(first_(in.at("x"), context) - shift_.value());
    const at::Tensor y = second_(hidden, context);
    return {{"y", y}, {"class", y.argmax(-1)}};
  }

 private:
  nn::Linear first_{this, "first", 6, 5};
  nn::Buffer shift_{this, "shift", {5}, at::kFloat, 0.125};
  nn::Linear second_{this, "second", 5, 4};
};

OwnModel::OwnModel() = default;
OwnModel::~OwnModel() = default;

void OwnModel::build(const Spec& /*in*/) { network_ = std::make_unique<Network>(); }

nn::Module& OwnModel::root() { return *network_; }

Tensors OwnModel::example(uint64_t seed) {
  at::Generator random = at::detail::createCPUGenerator(seed);
  return {{"x", at::randn({7, 6}, random, at::TensorOptions(at::kFloat))}};
}

}  // namespace tenon::conformance
