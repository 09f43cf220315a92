// Initial values.
#include <tenon/nn/init.hpp>

#include <cmath>

#include <ATen/ATen.h>

namespace tenon::nn {
namespace {

Init uniform(double bound) {
  return [bound](at::Tensor& value, const at::Generator& random) { value.uniform_(-bound, bound, random); };
}

}  // namespace

Init kaiming_uniform(int64_t fan_in, double gain) {
  return uniform(std::sqrt(3.0) * gain / std::sqrt(static_cast<double>(fan_in)));
}

Init fan_in_uniform(int64_t fan_in) { return uniform(1.0 / std::sqrt(static_cast<double>(fan_in))); }

Init constant(double number) {
  return [number](at::Tensor& value, const at::Generator& /*random*/) { value.fill_(number); };
}

}  // namespace tenon::nn
