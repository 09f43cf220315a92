// transform:batch_cutmix: a rectangle of each image comes from the next one of its batch.
#include <algorithm>
#include <cmath>
#include <utility>

#include <ATen/ATen.h>

#include <support/mixing.hpp>
#include <tenon/registration.hpp>

namespace tenon::batch_transforms {

/// A rectangle with the share 1 − λ of the area, λ ~ Beta(α, α), around a centre drawn evenly, cut at the border; targets
/// are mixed by the area that is left (Yun et al., "CutMix", ICCV 2019). One rectangle a batch.
class BatchCutmix final : public Mixing {
 public:
  using Mixing::Mixing;

 protected:
  /// Two draws: the centre's row, its column.
  [[nodiscard]] Mixed mix(const at::Tensor& image, double share, Rng& random) const override {
    const double side = std::sqrt(1 - share);
    const auto [top, bottom] = cut(random, image.size(2), side);
    const auto [left, right] = cut(random, image.size(3), side);
    const auto area = static_cast<double>((bottom - top) * (right - left));
    if (area == 0) return {image, 1};
    at::Tensor mixed = image.clone();
    const auto part = [t = top, b = bottom, l = left, r = right](const at::Tensor& of) {
      return of.slice(2, t, b).slice(3, l, r);
    };
    part(mixed).copy_(part(partners(image)));
    return {std::move(mixed), 1 - area / static_cast<double>(image.size(2) * image.size(3))};
  }

 private:
  /// The part of an axis, [first, last), that a side of that share covers around a random pixel.
  static std::pair<int64_t, int64_t> cut(Rng& random, int64_t size, double share) {
    const auto length = static_cast<int64_t>(static_cast<double>(size) * share);
    const int64_t centre = random.integer(0, size - 1);
    return {std::clamp<int64_t>(centre - length / 2, 0, size), std::clamp<int64_t>(centre + length / 2, 0, size)};
  }
};

TENON_COMPONENT(BatchCutmix, MixingParams, "batch_cutmix",
                "Puts a rectangle of the next image of a batch into each, and mixes their labels by its area")

}  // namespace tenon::batch_transforms
