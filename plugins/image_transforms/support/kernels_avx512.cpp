// The kernels for processors with AVX-512.
#include <support/kernels.hpp>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)

#include <cstring>

#pragma GCC diagnostic ignored "-Wuninitialized"  // of the instructions' own header: GCC bug 105593
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>

#pragma GCC target("avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512")
#define TENON_KERNELS_AVX512

#include <support/kernels_body.hpp>

namespace tenon::image_transforms {

const Kernels* avx512_kernels() noexcept {
  const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  return has ? &kKernels : nullptr;
}

}  // namespace tenon::image_transforms

#else

namespace tenon::image_transforms {

const Kernels* avx512_kernels() noexcept { return nullptr; }

}  // namespace tenon::image_transforms

#endif
