// transform:cutmix: a rectangle of one image within another, and labels by area.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <support/mixing.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

/// Yun et al., "CutMix: regularization strategy to train strong classifiers with localizable features", ICCV 2019.
class Cutmix final : public Mixing {
 public:
  using Mixing::Mixing;

 protected:
  /// Two draws: column and row of the rectangle's centre. Where it reaches beyond the image, the share is corrected.
  [[nodiscard]] double mix(const View& first, const View& second, double share, Rng& random,
                           const Canvas& out) const override {
    const double half = 0.5 * std::sqrt(1 - share);
    const auto across = static_cast<int64_t>(half * static_cast<double>(first.width));
    const auto down = static_cast<int64_t>(half * static_cast<double>(first.height));
    const int64_t x = random.integer(0, first.width - 1);
    const int64_t y = random.integer(0, first.height - 1);
    const int64_t left = std::max<int64_t>(x - across, 0);
    const int64_t right = std::min(x + across, first.width);
    const int64_t top = std::max<int64_t>(y - down, 0);
    const int64_t bottom = std::min(y + down, first.height);
    for (int64_t row = 0; row < first.height; ++row) {
      std::memcpy(out.row(row), first.row(row), static_cast<std::size_t>(first.row_bytes()));
      if (row < top || row >= bottom) continue;
      std::memcpy(out.row(row) + left * first.channels, second.row(row) + left * first.channels,
                  static_cast<std::size_t>((right - left) * first.channels));
    }
    const double area = static_cast<double>(first.height) * static_cast<double>(first.width);
    return 1 - static_cast<double>((right - left) * (bottom - top)) / area;
  }
};

TENON_COMPONENT(Cutmix, MixingParams, "cutmix",
                "Puts a rectangle of another sample's image into each, and mixes labels")

}  // namespace tenon::image_transforms
