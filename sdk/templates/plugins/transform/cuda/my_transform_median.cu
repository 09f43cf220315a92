// The kernel, and the way of an image to the GPU and back.
#include <string>

#include <my_transform_median.hpp>
#include <tenon/error.hpp>

namespace my_transform_plugin {
namespace {

// Each loader thread has a stream of its own, so that none waits for another.
const cudaStream_t kStream = cudaStreamPerThread;

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  const bool memory = status == cudaErrorMemoryAllocation;
  throw tenon::Error(memory ? tenon::ErrorCode::kMemory : tenon::ErrorCode::kPlugin,
                     std::string(what) + ": " + cudaGetErrorString(status));
}

/// Memory of the GPU, given back in the order of the stream.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes) { check(cudaMallocAsync(&data_, bytes, kStream), "cannot take GPU memory"); }
  ~Buffer() { cudaFreeAsync(data_, kStream); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] uint8_t* get() const { return static_cast<uint8_t*>(data_); }

 private:
  void* data_ = nullptr;
};

/// One thread a pixel. The element number k of a sorted window is the largest m below which at most k elements lie; it
/// is found bit by bit, without sorting.
__global__ void filter(const uint8_t* in, uint8_t* out, Images size, int64_t radius) {
  const int64_t x = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t y = int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
  if (x >= size.width || y >= size.height) return;
  const int64_t first_row = max(y - radius, int64_t{0});
  const int64_t last_row = min(y + radius, size.height - 1);
  const int64_t first_column = max(x - radius, int64_t{0});
  const int64_t last_column = min(x + radius, size.width - 1);
  const int64_t middle = (last_row - first_row + 1) * (last_column - first_column + 1) / 2;
  for (int64_t channel = blockIdx.z; channel < size.channels; channel += gridDim.z) {
    const uint8_t* const image = in + channel * size.height * size.width;
    int median = 0;
    for (int bit = 128; bit > 0; bit /= 2) {
      int64_t below = 0;
      for (int64_t row = first_row; row <= last_row; ++row) {
        for (int64_t column = first_column; column <= last_column; ++column) {
          below += image[row * size.width + column] < median + bit ? 1 : 0;
        }
      }
      if (below <= middle) median += bit;
    }
    out[(channel * size.height + y) * size.width + x] = static_cast<uint8_t>(median);
  }
}

}  // namespace

bool has_gpu() noexcept {
  static const bool has = [] {
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
  }();
  return has;
}

void median_on_gpu(const uint8_t* in, uint8_t* out, const Images& size, int64_t radius) {
  const auto bytes = static_cast<std::size_t>(size.channels * size.height * size.width);
  const Buffer from(bytes);
  const Buffer to(bytes);
  check(cudaMemcpyAsync(from.get(), in, bytes, cudaMemcpyHostToDevice, kStream), "cannot copy to the GPU");
  constexpr unsigned kSide = 16;
  const auto blocks = [](int64_t length) { return static_cast<unsigned>((length + kSide - 1) / kSide); };
  const dim3 grid(blocks(size.width), blocks(size.height), static_cast<unsigned>(min(size.channels, int64_t{1024})));
  filter<<<grid, dim3(kSide, kSide), 0, kStream>>>(from.get(), to.get(), size, radius);
  check(cudaGetLastError(), "the filter cannot be started on the GPU");
  check(cudaMemcpyAsync(out, to.get(), bytes, cudaMemcpyDeviceToHost, kStream), "cannot copy from the GPU");
  check(cudaStreamSynchronize(kStream), "the filter failed on the GPU");
}

}  // namespace my_transform_plugin
