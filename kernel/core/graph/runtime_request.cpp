// From run settings to what must be so before libtorch is opened.
#include <core/graph/runtime_request.hpp>

namespace tenon::core {

bool can_use_cuda() { return has_nvidia_driver() && find_libtorch().cuda; }

RuntimeRequest runtime_request(const RunSettings& run) {
  RuntimeRequest request;
  request.threads = run.threads.value_or(0);
  request.strict = run.determinism == "strict";
  request.ieee = run.float32 == "ieee";
  // Without a driver the engine refuses "cuda" at its place in the pipeline; a libtorch without CUDA matters only to
  // "cuda".
  request.cuda = run.device == "cuda" ? has_nvidia_driver() : run.device == "auto" && can_use_cuda();
  return request;
}

}  // namespace tenon::core
