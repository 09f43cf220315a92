// Comparison of shapes.
#include <support/shapes.hpp>

#include <sstream>

#include <ATen/ATen.h>

#include <tenon/error.hpp>

namespace tenon::losses {

std::string spelled(const at::Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

at::Tensor in_shape_of(const at::Tensor& output, const char* name, const at::Tensor& target) {
  if (output.sizes().equals(target.sizes())) return target;
  const bool same_samples = output.dim() + target.dim() == 3 && output.size(0) == target.size(0);
  if (same_samples && (output.dim() == 2 ? output : target).size(1) == 1) return target.reshape(output.sizes());
  throw Error(ErrorCode::kConfig, std::string(name) + " " + spelled(output) + " and target " + spelled(target) +
                                      " must have one shape: reshape one of them");
}

}  // namespace tenon::losses
