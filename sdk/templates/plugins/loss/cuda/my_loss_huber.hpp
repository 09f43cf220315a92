// The part of the loss that runs on a GPU. Nothing of CUDA shows here, so that only the .cu file needs its compiler.
#pragma once

#include <cstdint>

namespace my_loss_plugin {

/// For each of `count` elements, with e = prediction − target: value = e²/2 where |e| <= delta, else
/// delta·(|e| − delta/2), and slope, its derivative by the prediction. All pointers lead to memory of the current
/// GPU; `stream` is a cudaStream_t, on which this is queued and not waited for. \throws tenon::Error (kPlugin).
void huber(const float* prediction, const float* target, float* value, float* slope, int64_t count, double delta,
           void* stream);
void huber(const double* prediction, const double* target, double* value, double* slope, int64_t count, double delta,
           void* stream);

/// Whether this process may use a GPU.
[[nodiscard]] bool has_gpu() noexcept;

}  // namespace my_loss_plugin
