// transform:random_erasing: paints over a random rectangle.
#include <cmath>
#include <cstring>
#include <string>

#include <support/chance.hpp>
#include <support/colouring.hpp>
#include <support/grow.hpp>
#include <support/ranges.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct RandomErasingParams {
  std::string image = "image";
  double p = 0.5;
  std::vector<double> scale{0.02, 0.33};
  std::vector<double> ratio{0.3, 3.3};
  std::vector<int64_t> fill{0};
  bool noise = false;
  int64_t grow = 0;

  TENON_PARAMS(RandomErasingParams, image_field<RandomErasingParams>(), chance_field<RandomErasingParams>(),
               tenon::field(&RandomErasingParams::scale, "scale", "Least and largest share of the image's area")
                   .above(0)
                   .max(1)
                   .min_items(2),
               tenon::field(&RandomErasingParams::ratio, "ratio", "Least and largest height by width of the rectangle")
                   .min(kLeastRatio)
                   .max(kLargestRatio)
                   .min_items(2),
               tenon::field(&RandomErasingParams::fill, "fill",
                            "What is painted, 0 to 255: one value for each channel, or one for all")
                   .min(0)
                   .max(255)
                   .min_items(1),
               tenon::field(&RandomErasingParams::noise, "noise", "Whether random bytes are painted instead"),
               grow_field<RandomErasingParams>())
};

class RandomErasing final : public Colouring {
 public:
  explicit RandomErasing(const RandomErasingParams& params)
      : Colouring(params.image),
        p_(params.p),
        scale_(range_of(params.scale, "/scale")),
        ratio_(range_of(params.ratio, "/ratio")),
        fill_(bytes_of(params.fill)),
        noise_(params.noise),
        grow_(params.grow) {}

  [[nodiscard]] Spec spec(const Spec& in) const override {
    Spec out = Colouring::spec(in);
    const Dim& channels = require_image(in, image()).shape[2];
    if (fill_.size() > 1 && channels.fixed() && static_cast<int64_t>(fill_.size()) != channels.size) {
      refuse(channels.size, ErrorCode::kConfig);
    }
    return out;
  }

  /// One draw whether; up to ten tries for a rectangle that is smaller than the image both ways, of two draws each; two
  /// for its place; with noise one for every four bytes. All channels are painted, alpha too: Zhong et al., "Random
  /// erasing data augmentation", AAAI 2020.
  void apply(Sample& sample, Rng& random, const When& when) const override {
    if (!random.chance(p_ * strength(grow_, when))) return;
    const View image = in(sample);
    if (fill_.size() > 1 && static_cast<int64_t>(fill_.size()) != image.channels) {
      refuse(image.channels, ErrorCode::kData);
    }
    const double area = static_cast<double>(image.height) * static_cast<double>(image.width);
    const Range shape{std::log(ratio_.low), std::log(ratio_.high)};
    for (int i = 0; i < 10; ++i) {
      const double target = area * scale_.draw(random);
      const double ratio = std::exp(shape.draw(random));
      const auto height = static_cast<int64_t>(std::nearbyint(std::sqrt(target * ratio)));
      const auto width = static_cast<int64_t>(std::nearbyint(std::sqrt(target / ratio)));
      if (height >= image.height || width >= image.width) continue;
      const int64_t top = random.integer(0, image.height - height);
      const int64_t left = random.integer(0, image.width - width);
      const Canvas to = out(sample, image);
      std::memcpy(to.data, image.data, static_cast<std::size_t>(image.height * image.stride));
      paint(to.part({top, left, height, width}), random);
      return;
    }
  }

 private:
  void paint(const Canvas& part, Rng& random) const {
    uint32_t bits = 0;
    int64_t drawn = 0;
    for (int64_t y = 0; y < part.height; ++y) {
      for (int64_t i = 0; i < part.row_bytes(); ++i) {
        if (!noise_) {
          part.row(y)[i] = fill_[fill_.size() == 1 ? 0 : static_cast<std::size_t>(i % part.channels)];
          continue;
        }
        bits = drawn++ % 4 == 0 ? random.bits() : bits >> 8;
        part.row(y)[i] = static_cast<uint8_t>(bits & 0xFF);
      }
    }
  }

  [[noreturn]] void refuse(int64_t channels, ErrorCode code) const {
    throw Error(code,
                "fill has " + std::to_string(fill_.size()) + " elements, but \"" + image() + "\" has " +
                    std::to_string(channels) + " channels: give one for each, or one for all",
                "/fill");
  }

  double p_;
  Range scale_;
  Range ratio_;
  std::vector<uint8_t> fill_;
  bool noise_;
  int64_t grow_;
};

TENON_COMPONENT(RandomErasing, RandomErasingParams, "random_erasing", "Paints over a random rectangle of an image")

}  // namespace tenon::image_transforms
