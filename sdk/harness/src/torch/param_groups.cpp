// Parameters in flat buffers, with drawn gradients.
#include <tenon/harness/param_groups.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>

#include <tenon/array.hpp>
#include <tenon/random.hpp>

namespace tenon::harness {

ParamGroup param_group(const Shapes& shapes, at::ScalarType dtype, const Hypers& hypers) {
  const auto room = [](const std::vector<int64_t>& shape) { return (elements(shape) + 63) / 64 * 64; };
  int64_t total = 0;
  for (const auto& [name, shape] : shapes) total += room(shape);
  ParamGroup group;
  group.flat_param = at::zeros({total}, at::TensorOptions(dtype));
  group.flat_grad = at::zeros_like(group.flat_param);
  int64_t offset = 0;
  for (const auto& [name, shape] : shapes) {
    group.names.push_back(name);
    group.params.push_back(group.flat_param.narrow(0, offset, elements(shape)).view(shape));
    group.grads.push_back(group.flat_grad.narrow(0, offset, elements(shape)).view(shape));
    offset += room(shape);
  }
  for (const auto& [name, value] : hypers) {
    group.hypers.push_back({name, at::scalar_tensor(value, at::TensorOptions(at::kDouble)), value});
  }
  return group;
}

std::vector<ParamGroup> two_groups(at::ScalarType dtype, const Hypers& first, const Hypers& second) {
  at::Generator random = at::detail::createCPUGenerator(8);
  std::vector<ParamGroup> groups;
  groups.push_back(param_group({{"net.head.weight", {3, 5}}, {"net.head.bias", {7}}}, dtype, first));
  groups.push_back(param_group({{"net.body.conv.weight", {3, 5}}, {"net.body.conv.bias", {7}}}, dtype, second));
  for (ParamGroup& group : groups) {
    for (at::Tensor& param : group.params) param.normal_(0, 1, random);
  }
  return groups;
}

void set_hyper(ParamGroup& group, const std::string& name, double value) {
  const auto found =
      std::find_if(group.hypers.begin(), group.hypers.end(), [&](const Hyper& hyper) { return hyper.name == name; });
  if (found == group.hypers.end()) (void)group.hyper(name);  // throws, with the names that there are
  found->tensor.fill_(value);
  found->value = value;
}

void fill_grads(std::vector<ParamGroup>& groups, at::Generator& random) {
  for (ParamGroup& each : groups) {
    for (at::Tensor& grad : each.grads) grad.normal_(0, 2, random);
  }
}

void copy_values(const std::vector<ParamGroup>& from, std::vector<ParamGroup>& to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i].flat_param.copy_(from[i].flat_param);
    to[i].flat_grad.copy_(from[i].flat_grad);
  }
}

void steps(Optimizer& optimizer, std::vector<ParamGroup>& groups, int64_t from, int64_t to, uint64_t seed,
           const Update& update) {
  const c10::NoGradGuard no_grad;
  for (int64_t step = from; step < to; ++step) {
    at::Generator random = at::detail::createCPUGenerator(random_key({seed, static_cast<uint64_t>(step)}));
    fill_grads(groups, random);
    optimizer.step(update);
  }
}

std::vector<double> values_of(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.detach().to(at::kDouble).reshape({-1}).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

double distance(const at::Tensor& tensor, const std::vector<double>& expected) {
  const std::vector<double> values = values_of(tensor);
  double largest = values.size() == expected.size() ? 0 : std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < std::min(values.size(), expected.size()); ++i) {
    const double each = std::abs(values[i] - expected[i]) / std::max(1.0, std::abs(expected[i]));
    if (!(each <= largest)) largest = each;  // also one that is no number
  }
  return largest;
}

}  // namespace tenon::harness
