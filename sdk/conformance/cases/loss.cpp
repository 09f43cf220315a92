// Losses: sums, weights, gradients, types.
#include <conformance/case.hpp>

#include <cmath>
#include <limits>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <fmt/format.h>

#include <tenon/error.hpp>
#include <tenon/harness/exporters.hpp>
#include <tenon/harness/gradients.hpp>
#include <tenon/harness/losses.hpp>

namespace tenon::conformance {
namespace {

harness::Made<Loss> made(const Subject& subject, const Trial& trial) {
  return harness::Registry::as<Loss>(subject.make(trial.params));
}

Tensors converted(const Tensors& in, at::ScalarType type) {
  Tensors out;
  for (const auto& [name, tensor] : in) out.set(name, tensor.is_floating_point() ? tensor.to(type) : tensor);
  return out;
}

/// Floating inputs from N(0, 1), which not every loss takes.
Tensors normal(const Tensors& in) {
  at::Generator random = at::detail::createCPUGenerator(3);
  Tensors out;
  for (const auto& [name, tensor] : in) {
    out.set(name,
            tensor.is_floating_point() ? at::randn(tensor.sizes(), random, at::TensorOptions(at::kDouble)) : tensor);
  }
  return out;
}

bool reaches(Loss& loss, const Tensors& in) {
  Tensors by;
  for (const auto& [name, tensor] : in) {
    by.set(name, tensor.is_floating_point() ? tensor.detach().clone().requires_grad_(true) : tensor);
  }
  return harness::sum_of(loss, by).requires_grad();
}

void gradcheck(Bench& bench) {
  for (const Trial& trial : bench.trials()) {
    const auto loss = made(bench.subject(), trial);
    const Tensors in = draw_batch(trial.inputs, trial.seed, 0);
    for (const bool drawn_wide : {false, true}) {
      const Tensors each = drawn_wide ? normal(in) : in;
      bench.doing("gradients for " + to_string(trial.inputs));
      try {
        if (!reaches(*loss, each)) {
          return bench.fail("no gradient reaches any input", "keep the graph from the inputs to sum()", trial.params);
        }
        const auto faults = harness::check_gradients(*loss, each);
        if (faults.empty()) continue;
        return bench.fail(fmt::format("{} gradients of {} are wrong: {}", faults.size(), to_string(trial.inputs),
                                      harness::to_string(faults.front())),
                          "let autograd derive sum(), or mend its backward; a target that is no input of the "
                          "derivative is detached",
                          trial.params);
      } catch (const Error&) {
        if (!drawn_wide) throw;  // normal numbers need not suit
      } catch (const c10::Error&) {
        continue;
      }
    }
  }
}

constexpr Case kGradcheck{"loss.gradcheck", "The gradient of sum() is the one that differences show, in float64.",
                          "loss", &gradcheck};
TENON_CASE(kGradcheck);

void additive(Bench& bench) {
  if (bench.subject().has("traits", "batch_coupled")) throw Skip{"its samples meet in the batch"};
  for (const Trial& trial : bench.trials()) {
    const auto loss = made(bench.subject(), trial);
    const Tensors whole = converted(draw_batch(trial.inputs, trial.seed, 0, 6), at::kDouble);
    double sums = 0;
    double weights = 0;
    for (const auto& [begin, end] : {std::pair{0, 2}, std::pair{2, 6}}) {
      Tensors part;
      for (const auto& [name, tensor] : whole) part.set(name, tensor.dim() == 0 ? tensor : tensor.slice(0, begin, end));
      sums += harness::sum_of(*loss, part).item<double>();
      weights += harness::weight_of(*loss, part, end - begin);
    }
    const double sum = harness::sum_of(*loss, whole).item<double>();
    const double weight = harness::weight_of(*loss, whole, 6);
    if (std::abs(sum - sums) > 1e-9 * std::max(1.0, std::abs(sum))) {
      bench.fail(fmt::format("sum() of 6 samples is {}, of 2 and of 4 together {}", sum, sums),
                 "never divide in a loss: give the sum and, apart from it, the weight; or say batch_coupled",
                 trial.params);
    }
    if (std::abs(weight - weights) > 1e-9 * std::max(1.0, weight)) {
      bench.fail(fmt::format("weight() of 6 samples is {}, of 2 and of 4 together {}", weight, weights),
                 "let the weight be a sum over samples", trial.params);
    }
    if (!bench.findings().empty()) return;
  }
}

constexpr Case kAdditive{"loss.additive", "Sum and weight of a batch are those of its parts together.", "loss",
                         &additive};
TENON_CASE(kAdditive);

void types(Bench& bench) {
  const Trial& trial = bench.trial();
  const auto loss = made(bench.subject(), trial);
  const Tensors in = draw_batch(trial.inputs, trial.seed, 0);
  const double exact = harness::sum_of(*loss, converted(in, at::kDouble)).item<double>();
  for (const Json& port : bench.subject().manifest["ports"]["in"]) {
    if (!port.contains("dtype")) continue;
    for (const Json& name : port["dtype"]) {
      const at::ScalarType type = scalar_type(dtype_of(name.get<std::string>()).value());
      if (!at::isFloatingType(type)) continue;
      bench.doing(fmt::format("sum() of {}", name.get<std::string>()));
      const double sum = harness::sum_of(*loss, converted(in, type)).item<double>();
      const double allowed = (type == at::kHalf || type == at::kBFloat16 ? 0.1 : 1e-4) * std::max(1.0, std::abs(exact));
      if (std::abs(sum - exact) <= allowed) continue;
      return bench.fail(fmt::format("for {} sum() is {}, for float64 it is {}", name.get<std::string>(), sum, exact),
                        "add up in float32 at least: tensor.to(at::kFloat) or sum(at::kFloat)", trial.params);
    }
    return;  // all floating inputs had that type
  }
}

constexpr Case kTypes{"loss.types", "It takes each floating type of its port rules, with about the same sum.", "loss",
                      &types};
TENON_CASE(kTypes);

void nonfinite(Bench& bench) {
  const Trial& trial = bench.trial();
  const auto loss = made(bench.subject(), trial);
  const Tensors in = converted(draw_batch(trial.inputs, trial.seed, 0), at::kFloat);
  for (const auto& [name, tensor] : in) {
    if (!tensor.is_floating_point()) continue;
    Tensors bad = in;
    at::Tensor damaged = tensor.clone();
    damaged.view({-1})[0] = std::numeric_limits<double>::quiet_NaN();
    bad.set(name, damaged);
    bench.doing("sum() where \"" + name + "\" holds NaN");
    try {
      const double sum = harness::sum_of(*loss, bad).item<double>();
      if (!std::isfinite(sum)) continue;
      bench.warn(fmt::format("NaN in \"{}\" leaves the sum finite, {}", name, sum),
                 "let NaN through, so that the run finds it", trial.params);
    } catch (const Error&) {
      continue;
    }
  }
}

constexpr Case kNonfinite{"loss.nonfinite", "NaN in an input shows in the sum, or is refused.", "loss", &nonfinite};
TENON_CASE(kNonfinite);

void inputs(Bench& bench) {
  for (const Trial& trial : bench.trials()) {
    const auto loss = made(bench.subject(), trial);
    const Tensors in = draw_batch(trial.inputs, trial.seed, 0);
    Seen before;
    for (const auto& [name, tensor] : in) before.add("input " + name, tensor);
    (void)loss->weight(in);
    (void)harness::sum_of(*loss, in);
    Seen after;
    for (const auto& [name, tensor] : in) after.add("input " + name, tensor);
    const std::string what = before.difference(after);
    if (!what.empty())
      return bench.fail("it changes its input in place: " + what, "use operations without a trailing _", trial.params);
  }
}

constexpr Case kInputs{"loss.input", "Its inputs are as they were afterwards.", "loss", &inputs};
TENON_CASE(kInputs);

}  // namespace
}  // namespace tenon::conformance
