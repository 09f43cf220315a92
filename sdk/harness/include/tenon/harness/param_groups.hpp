// Groups of parameters as the engine gives them to optimizers.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <tenon/components/optimizer.hpp>

namespace tenon::harness {

using Shapes = std::vector<std::pair<std::string, std::vector<int64_t>>>;
using Hypers = std::vector<std::pair<std::string, double>>;

/// Each parameter starts at a multiple of 64 elements, which are at least 64 bytes in every type; values are zeros.
[[nodiscard]] ParamGroup param_group(const Shapes& shapes, at::ScalarType dtype, const Hypers& hypers);

/// Two groups of a 3 × 5 weight and a bias of 7 each, with the same drawn values every time.
[[nodiscard]] std::vector<ParamGroup> two_groups(at::ScalarType dtype, const Hypers& first, const Hypers& second);

/// Writes a value both ways, as the engine does before a step.
void set_hyper(ParamGroup& group, const std::string& name, double value);

/// Gradients drawn from N(0, 4).
void fill_grads(std::vector<ParamGroup>& groups, at::Generator& random);

/// The same values and gradients, in memory of their own.
void copy_values(const std::vector<ParamGroup>& from, std::vector<ParamGroup>& to);

/// Steps [from, to) of an optimizer that is attached to `groups`, each with gradients that depend on the step and `seed`
/// alone. No autograd is recorded.
void steps(Optimizer& optimizer, std::vector<ParamGroup>& groups, int64_t from, int64_t to, uint64_t seed = 1,
           const Update& update = {});

/// The elements in float64.
[[nodiscard]] std::vector<double> values_of(const at::Tensor& tensor);

/// The largest difference, as a share of the expected value where that is above 1.
[[nodiscard]] double distance(const at::Tensor& tensor, const std::vector<double>& expected);

}  // namespace tenon::harness
