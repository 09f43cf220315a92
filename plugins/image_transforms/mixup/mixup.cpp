// transform:mixup: the weighted mean of two images and of their labels.
#include <cmath>
#include <cstdint>

#include <support/mixing.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

/// Zhang et al., "mixup: beyond empirical risk minimization", ICLR 2018.
class Mixup final : public Mixing {
 public:
  using Mixing::Mixing;

 protected:
  /// No draw. Shares are rounded to 16 bits, means to whole numbers.
  [[nodiscard]] double mix(const View& first, const View& second, double share, Rng& /*random*/,
                           const Canvas& out) const override {
    const auto part = static_cast<int32_t>(std::lround(share * kWhole));
    for (int64_t y = 0; y < first.height; ++y) {
      const uint8_t* const a = first.row(y);
      const uint8_t* const b = second.row(y);
      uint8_t* const to = out.row(y);
      for (int64_t i = 0; i < first.row_bytes(); ++i) {
        to[i] = static_cast<uint8_t>((a[i] * part + b[i] * (kWhole - part) + kWhole / 2) / kWhole);
      }
    }
    return share;
  }

 private:
  static constexpr int32_t kWhole = 1 << 16;
};

TENON_COMPONENT(Mixup, MixingParams, "mixup", "Mixes each image and its label with those of another sample")

}  // namespace tenon::image_transforms
