// The kernel: value and slope of every element in one pass.
#include <algorithm>
#include <string>

#include <my_loss_huber.hpp>
#include <tenon/error.hpp>

namespace my_loss_plugin {
namespace {

template <class T>
__global__ void kernel(const T* prediction, const T* target, T* value, T* slope, int64_t count, T delta) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const T error = prediction[i] - target[i];
    const T size = error < 0 ? -error : error;
    const bool quadratic = size <= delta;
    value[i] = quadratic ? error * error / 2 : delta * (size - delta / 2);
    slope[i] = quadratic ? error : error < 0 ? -delta : delta;
  }
}

template <class T>
void start(const T* prediction, const T* target, T* value, T* slope, int64_t count, double delta, void* stream) {
  if (count == 0) return;
  constexpr int64_t kThreads = 256;
  const auto blocks = static_cast<unsigned>(std::min<int64_t>((count + kThreads - 1) / kThreads, 4096));
  kernel<<<blocks, static_cast<unsigned>(kThreads), 0, static_cast<cudaStream_t>(stream)>>>(
      prediction, target, value, slope, count, static_cast<T>(delta));
  const cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) return;
  throw tenon::Error(tenon::ErrorCode::kPlugin,
                     std::string("the kernel cannot be started: ") + cudaGetErrorString(status));
}

}  // namespace

void huber(const float* prediction, const float* target, float* value, float* slope, int64_t count, double delta,
           void* stream) {
  start(prediction, target, value, slope, count, delta, stream);
}

void huber(const double* prediction, const double* target, double* value, double* slope, int64_t count, double delta,
           void* stream) {
  start(prediction, target, value, slope, count, delta, stream);
}

bool has_gpu() noexcept {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

}  // namespace my_loss_plugin
