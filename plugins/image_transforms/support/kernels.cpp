// Chooses the kernels of this processor; those that need no more than the build itself.
#include <support/kernels.hpp>

#include <support/kernels_body.hpp>

namespace tenon::image_transforms {

const Kernels* base_kernels() noexcept { return &kKernels; }

const Kernels& kernels() noexcept {
  static const Kernels* const best = [] {
    if (const Kernels* const found = avx512_kernels()) return found;
    if (const Kernels* const found = avx2_kernels()) return found;
    return base_kernels();
  }();
  return *best;
}

}  // namespace tenon::image_transforms
