// Keyed generators for modules.
#include <tenon/step.hpp>

#include <mutex>

#include <ATen/ATen.h>

#include <tenon/nn/module.hpp>
#include <tenon/random.hpp>

namespace tenon {

at::Generator StepContext::random(const nn::Module& module) {
  const uint64_t draw = draws_[module.key()]++;
  const std::lock_guard<std::mutex> lock(generator_.mutex());
  generator_.set_current_seed(random_key({key_, module.key(), draw}));
  return generator_;
}

}  // namespace tenon
