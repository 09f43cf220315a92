// Gradients against differences, in float64.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include <tenon/components/loss.hpp>
#include <tenon/components/model.hpp>
#include <tenon/tensors.hpp>

namespace tenon::harness {

/// How far the two may lie apart, |analytic − numeric| <= rtol·|numeric| + atol, and how the differences are made.
struct GradientRules {
  double step = 1e-6;  ///< Central differences, (f(x + step) − f(x − step)) / (2·step).
  double rtol = 1e-4;
  double atol = 1e-6;         ///< Scaled by the largest gradient where that is above 1.
  int64_t elements = 32;      ///< At most so many elements of each tensor, spread over it.
  uint64_t seed = 1;          ///< Of the weights that make one number of a model's outputs.
  bool reached_only = false;  ///< Leave out what no gradient reaches at all, such as a target that is detached.
};

/// One element whose gradient is wrong.
struct GradientFault {
  std::string name;  ///< Of the input or parameter.
  int64_t element = 0;
  double analytic = 0;
  double numeric = 0;
};

/// "weight[12]: backward says 0.5, differences say 0.25"
[[nodiscard]] std::string to_string(const GradientFault& fault);

/// Compares the gradient of a 0-dim float64 function by each named tensor with differences. The tensors must be float64;
/// they are written to in place and come back as they were. `function` must read these very tensors and give the same
/// number at every call. An element where the two one-sided differences disagree, as at a kink, is left out.
/// Gives the elements that are wrong; an input that no gradient reaches counts as one with gradient 0.
[[nodiscard]] std::vector<GradientFault> check_gradients(const std::function<at::Tensor()>& function, const Tensors& by,
                                                         const GradientRules& rules = {});

/// A loss by those of its floating inputs that gradients reach, converted to float64.
[[nodiscard]] std::vector<GradientFault> check_gradients(Loss& loss, const Tensors& in,
                                                         const GradientRules& rules = {});

/// A built model with float64 values (see `build`) by its parameters and floating inputs, as it trains; the outputs are
/// added up with drawn weights. Buffers come back as they were.
[[nodiscard]] std::vector<GradientFault> check_gradients(Model& model, const Tensors& in,
                                                         const GradientRules& rules = {});

}  // namespace tenon::harness
