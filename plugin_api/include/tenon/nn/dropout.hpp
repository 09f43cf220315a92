// Dropout with keyed randomness.
#pragma once

#include <string>

#include <tenon/nn/module.hpp>

namespace tenon::nn {

/// While it trains, zeroes each element with probability p and scales the others by 1/(1 − p) (Srivastava et al., JMLR
/// 2014); else the identity. The mask depends on the context's key and the module's path alone.
class Dropout final : public Layer {
 public:
  /// 0 ≤ p < 1.
  Dropout(Module* parent, std::string name, double p);

 protected:
  at::Tensor forward(const at::Tensor& in, StepContext& context) override;

 private:
  double p_;
};

}  // namespace tenon::nn
