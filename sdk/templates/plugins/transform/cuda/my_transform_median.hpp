// The filter, on the CPU and on a GPU. Nothing of CUDA shows here, so that only the .cu file needs its compiler.
#pragma once

#include <cstdint>

namespace my_transform_plugin {

/// Images [channels, height, width] in host memory, one after the other; none is empty.
struct Images {
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;
};

/// The plain reference. [any thread]
void median_on_cpu(const uint8_t* in, uint8_t* out, const Images& size, int64_t radius);

/// The same bytes from the first GPU that this process may use; comes back when they are in `out`.
/// \throws tenon::Error (kMemory, kPlugin). [any thread]
void median_on_gpu(const uint8_t* in, uint8_t* out, const Images& size, int64_t radius);

/// Whether this process may use a GPU. [any thread]
[[nodiscard]] bool has_gpu() noexcept;

}  // namespace my_transform_plugin
