// Initial values.
#pragma once

#include <cstdint>

#include <tenon/nn/param.hpp>

namespace tenon::nn {

/// Uniform in ±sqrt(3)·gain/sqrt(fan_in) (He et al., "Delving deep into rectifiers", ICCV 2015, in its uniform form).
/// gain = sqrt(2) suits ReLU; gain = 1/sqrt(3) is what libtorch's own linear and convolution layers start with.
[[nodiscard]] Init kaiming_uniform(int64_t fan_in, double gain);

/// Uniform in ±1/sqrt(fan_in): libtorch's start for biases.
[[nodiscard]] Init fan_in_uniform(int64_t fan_in);

[[nodiscard]] Init constant(double number);

}  // namespace tenon::nn
