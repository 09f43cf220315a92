// A fully connected layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tenon/nn/module.hpp>

namespace tenon::nn {

/// y = x·Wᵀ + b over the last axis. Slots: weight [out, in], bias [out].
class Linear final : public Layer {
 public:
  Linear(Module* parent, std::string name, int64_t in, int64_t out, bool bias = true);

 protected:
  at::Tensor forward(const at::Tensor& in, StepContext& context) override;

 private:
  Param weight_;
  std::optional<Param> bias_;
};

}  // namespace tenon::nn
