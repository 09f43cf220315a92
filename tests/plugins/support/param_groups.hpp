// Groups of parameters as the engine gives them to optimizers, without an engine.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <tenon/components/optimizer.hpp>

namespace tenon::test {

using Shapes = std::vector<std::pair<std::string, std::vector<int64_t>>>;
using Hypers = std::vector<std::pair<std::string, double>>;

/// Each parameter starts at a multiple of 64 elements, which are at least 64 bytes in every type; values are zeros.
[[nodiscard]] inline ParamGroup param_group(const Shapes& shapes, at::ScalarType dtype, const Hypers& hypers) {
  const auto elements = [](const std::vector<int64_t>& shape) {
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    return count;
  };
  const auto room = [&](const std::vector<int64_t>& shape) { return (elements(shape) + 63) / 64 * 64; };
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

/// Two groups of a 3 × 5 weight and a bias of 7 each, with the same drawn values every time.
[[nodiscard]] inline std::vector<ParamGroup> two_groups(at::ScalarType dtype, const Hypers& first,
                                                        const Hypers& second) {
  at::Generator random = at::detail::createCPUGenerator(8);
  std::vector<ParamGroup> groups;
  groups.push_back(param_group({{"net.head.weight", {3, 5}}, {"net.head.bias", {7}}}, dtype, first));
  groups.push_back(param_group({{"net.body.conv.weight", {3, 5}}, {"net.body.conv.bias", {7}}}, dtype, second));
  for (ParamGroup& group : groups) {
    for (at::Tensor& param : group.params) param.normal_(0, 1, random);
  }
  return groups;
}

inline void set_hyper(ParamGroup& group, const std::string& name, double value) {
  const auto found =
      std::find_if(group.hypers.begin(), group.hypers.end(), [&](const Hyper& hyper) { return hyper.name == name; });
  found->tensor.fill_(value);
  found->value = value;
}

inline void fill_grads(std::vector<ParamGroup>& groups, at::Generator& random) {
  for (ParamGroup& each : groups) {
    for (at::Tensor& grad : each.grads) grad.normal_(0, 2, random);
  }
}

/// The same values and gradients, in memory of their own.
inline void copy_values(const std::vector<ParamGroup>& from, std::vector<ParamGroup>& to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i].flat_param.copy_(from[i].flat_param);
    to[i].flat_grad.copy_(from[i].flat_grad);
  }
}

/// The elements in float64.
[[nodiscard]] inline std::vector<double> values_of(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.to(at::kDouble).reshape({-1}).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

/// The largest difference, as a share of the expected value where that is above 1.
[[nodiscard]] inline double distance(const at::Tensor& tensor, const std::vector<double>& expected) {
  const std::vector<double> values = values_of(tensor);
  double largest = values.size() == expected.size() ? 0 : std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < std::min(values.size(), expected.size()); ++i) {
    const double each = std::abs(values[i] - expected[i]) / std::max(1.0, std::abs(expected[i]));
    if (!(each <= largest)) largest = each;  // also one that is no number
  }
  return largest;
}

}  // namespace tenon::test
