// How far the outputs of an exported file are from the live model's, and whether that is too far.
#pragma once

#include <cstdint>
#include <string>

#include <ATen/core/Tensor.h>

#include <tenon/components/exporter.hpp>

namespace tenon::engine {

/// One output at one batch size. Differences are NaN where the file gives NaN.
struct Difference {
  int64_t batch = 0;
  std::string output;
  std::string shape;     ///< "float32[3, 10]"
  double magnitude = 0;  ///< Largest finite absolute value that the live model gives.
  double max_abs = 0;
  double max_rel = 0;  ///< As a share of the live model's value; infinite where that is zero.
  bool within = true;
};

/// Compares by the rule of Verify. Both have the same shape and type, and `wanted`, the live model's, holds no NaN.
[[nodiscard]] Difference difference(int64_t batch, const std::string& output, const at::Tensor& got,
                                    const at::Tensor& wanted, const Verify& verify);

/// True for equal type, shape and bytes: NaN equals itself, and 0 is not -0.
[[nodiscard]] bool same_bits(const at::Tensor& a, const at::Tensor& b);

}  // namespace tenon::engine
