// The kernels for processors with AVX2.
#include <support/kernels.hpp>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)

#include <cstring>

#pragma GCC diagnostic ignored "-Wuninitialized"  // of the instructions' own header: GCC bug 105593
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>

#pragma GCC target("avx2")
#define TENON_KERNELS_AVX2

#include <support/kernels_body.hpp>

namespace tenon::image_transforms {

const Kernels* avx2_kernels() noexcept { return __builtin_cpu_supports("avx2") ? &kKernels : nullptr; }

}  // namespace tenon::image_transforms

#else

namespace tenon::image_transforms {

const Kernels* avx2_kernels() noexcept { return nullptr; }

}  // namespace tenon::image_transforms

#endif
