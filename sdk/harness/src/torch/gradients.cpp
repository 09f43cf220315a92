// Central differences beside backward().
#include <tenon/harness/gradients.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>

#include <tenon/error.hpp>
#include <tenon/harness/losses.hpp>
#include <tenon/harness/network.hpp>

namespace tenon::harness {
namespace {

double value_of(const std::function<at::Tensor()>& function) {
  const c10::NoGradGuard no_grad;
  return function().item<double>();
}

struct Differences {
  double central = 0;
  bool smooth = true;
};

Differences differences(const std::function<at::Tensor()>& function, double* element, const GradientRules& rules) {
  const double at = *element;
  const double here = value_of(function);
  *element = at + rules.step;
  const double above = value_of(function);
  *element = at - rules.step;
  const double below = value_of(function);
  *element = at;
  const double right = (above - here) / rules.step;
  const double left = (here - below) / rules.step;
  const double central = (above - below) / (2 * rules.step);
  // Of a smooth function the sides differ by its curvature times the step: far less than this.
  const bool smooth = std::abs(right - left) <= 1e-2 * std::max({1.0, std::abs(right), std::abs(left)});
  return {central, smooth};
}

/// The floating inputs in float64, with memory of their own and gradients; others as they are.
Tensors in_double(const Tensors& in) {
  Tensors converted;
  for (const auto& [name, tensor] : in) {
    if (!tensor.is_floating_point()) {
      converted.set(name, tensor);
    } else {
      converted.set(name, tensor.detach().to(at::kDouble).clone(at::MemoryFormat::Contiguous).requires_grad_(true));
    }
  }
  return converted;
}

Tensors floating(const Tensors& in) {
  Tensors chosen;
  for (const auto& [name, tensor] : in) {
    if (tensor.is_floating_point()) chosen.set(name, tensor);
  }
  return chosen;
}

}  // namespace

std::string to_string(const GradientFault& fault) {
  std::ostringstream text;
  text.precision(8);
  text << fault.name << "[" << fault.element << "]: backward says " << fault.analytic << ", differences say "
       << fault.numeric;
  return text.str();
}

std::vector<GradientFault> check_gradients(const std::function<at::Tensor()>& function, const Tensors& by,
                                           const GradientRules& rules) {
  for (const auto& [name, tensor] : by) {
    if (tensor.scalar_type() != at::kDouble || !tensor.is_contiguous()) {
      throw Error(ErrorCode::kConfig, "\"" + name + "\" must be contiguous and of type float64");
    }
    tensor.mutable_grad().reset();
  }
  const at::Tensor result = function();
  if (result.dim() != 0 || result.scalar_type() != at::kDouble) {
    throw Error(ErrorCode::kPlugin, "the function gives no 0-dim float64 tensor for float64 inputs");
  }
  if (result.requires_grad()) result.backward();
  std::vector<GradientFault> faults;
  for (const auto& [name, tensor] : by) {
    if (rules.reached_only && !tensor.grad().defined()) continue;
    const at::Tensor grad = tensor.grad().defined() ? tensor.grad().contiguous() : at::zeros_like(tensor);
    const double scale = tensor.numel() == 0 ? 1 : std::max(1.0, grad.abs().max().item<double>());
    const int64_t stride = std::max<int64_t>(1, tensor.numel() / std::max<int64_t>(1, rules.elements));
    for (int64_t i = 0; i < tensor.numel(); i += stride) {
      const Differences numeric = differences(function, tensor.mutable_data_ptr<double>() + i, rules);
      if (!numeric.smooth) continue;
      const double analytic = grad.const_data_ptr<double>()[i];
      const double allowed = rules.rtol * std::abs(numeric.central) + rules.atol * scale;
      if (std::abs(analytic - numeric.central) <= allowed) continue;
      faults.push_back({name, i, analytic, numeric.central});
    }
  }
  return faults;
}

std::vector<GradientFault> check_gradients(Loss& loss, const Tensors& in, const GradientRules& rules) {
  const Tensors converted = in_double(in);
  GradientRules reached = rules;
  reached.reached_only = true;
  return check_gradients([&] { return sum_of(loss, converted); }, floating(converted), reached);
}

std::vector<GradientFault> check_gradients(Model& model, const Tensors& in, const GradientRules& rules) {
  const Tensors converted = in_double(in);
  Tensors by = floating(converted);
  model.root().visit_params([&](const std::string& name, nn::Param& slot) { by.set(name, slot.value()); });
  std::vector<std::pair<at::Tensor, at::Tensor>> buffers;
  model.root().visit_buffers(
      [&](const std::string& /*name*/, nn::Buffer& slot) { buffers.emplace_back(slot.value(), slot.value().clone()); });
  return check_gradients(
      [&] {
        {
          const c10::NoGradGuard no_grad;
          for (auto& [value, before] : buffers) value.copy_(before);
        }
        at::Generator random = at::detail::createCPUGenerator(rules.seed);
        at::Tensor total = at::zeros({}, at::TensorOptions(at::kDouble));
        for (const auto& [name, tensor] : run(model.root(), converted, true)) {
          if (!tensor.is_floating_point()) continue;
          const at::Tensor weights = at::randn(tensor.sizes(), random, at::TensorOptions(at::kDouble));
          total = total + (tensor.to(at::kDouble) * weights).sum();
        }
        return total;
      },
      by, rules);
}

}  // namespace tenon::harness
