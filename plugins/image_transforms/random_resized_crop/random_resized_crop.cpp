// transform:random_resized_crop: a window of random size, shape and place, resized to a fixed size.
#include <algorithm>
#include <cmath>

#include <support/geometric.hpp>
#include <support/grow.hpp>
#include <support/ranges.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct RandomResizedCropParams : JointParams, SizeParams {
  std::vector<double> scale{0.08, 1};
  std::vector<double> ratio{3.0 / 4, 4.0 / 3};
  Interpolation interpolation = Interpolation::kBilinear;
  bool antialias = true;
  int64_t grow = 0;

  TENON_PARAMS(RandomResizedCropParams, TENON_SIZE_FIELDS(RandomResizedCropParams),
               tenon::field(&RandomResizedCropParams::scale, "scale", "Least and largest share of the image's area")
                   .above(0)
                   .max(1)
                   .min_items(2),
               tenon::field(&RandomResizedCropParams::ratio, "ratio", "Least and largest width by height of the window")
                   .min(kLeastRatio)
                   .max(kLargestRatio)
                   .min_items(2),
               tenon::field(&RandomResizedCropParams::interpolation, "interpolation",
                            "How values between pixels are made"),
               tenon::field(&RandomResizedCropParams::antialias, "antialias",
                            "Whether bilinear and bicubic average over all pixels where the window shrinks"),
               TENON_CUT_FIELDS(RandomResizedCropParams), grow_field<RandomResizedCropParams>())
};

class RandomResizedCrop final : public Cropping {
 public:
  explicit RandomResizedCrop(const RandomResizedCropParams& params)
      : Cropping(params, style_of(params), true),
        out_(params.extent()),
        scale_(range_of(params.scale, "/scale")),
        ratio_(range_of(params.ratio, "/ratio")),
        grow_(params.grow) {}

  static Ports ports() { return joint_ports(SizeAxes{"$height", "$width"}, true); }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }
  static Example example() { return joint_example(R"("height": 4, "width": 5)", true); }

 protected:
  [[nodiscard]] std::optional<std::array<Dim, 2>> size() const override {
    return {{Dim(out_.height), Dim(out_.width)}};
  }

  [[nodiscard]] Map chosen(const Extent& /*whole*/, const Region& region) const override {
    Map map = Map::cut(region);
    map.out = out_;
    return map;
  }

  /// Up to ten tries for a window that fits, of two draws each, then two for its place: Szegedy et al., "Going deeper
  /// with convolutions", CVPR 2015. Failing that, the largest window in the middle whose shape is allowed.
  [[nodiscard]] Map plan(const Extent& extent, Rng& random, const When& when) const override {
    const double share = strength(grow_, when);
    const Range scale{1 - (1 - scale_.low) * share, 1 - (1 - scale_.high) * share};
    const Range shape{std::log(ratio_.low) * share, std::log(ratio_.high) * share};
    const double area = static_cast<double>(extent.height) * static_cast<double>(extent.width);
    for (int i = 0; i < 10; ++i) {
      const double target = area * random.uniform(scale.low, scale.high);
      const double ratio = std::exp(random.uniform(shape.low, shape.high));
      const auto width = static_cast<int64_t>(std::nearbyint(std::sqrt(target * ratio)));
      const auto height = static_cast<int64_t>(std::nearbyint(std::sqrt(target / ratio)));
      if (width < 1 || width > extent.width || height < 1 || height > extent.height) continue;
      const int64_t top = random.integer(0, extent.height - height);
      const int64_t left = random.integer(0, extent.width - width);
      return chosen(extent, {top, left, height, width});
    }
    const double ratio = static_cast<double>(extent.width) / static_cast<double>(extent.height);
    int64_t width = extent.width;
    int64_t height = extent.height;
    if (ratio < ratio_.low) height = rounded(static_cast<double>(width) / ratio_.low);
    if (ratio > ratio_.high) width = rounded(static_cast<double>(height) * ratio_.high);
    return chosen(extent, {(extent.height - height) / 2, (extent.width - width) / 2, height, width});
  }

 private:
  static Style style_of(const RandomResizedCropParams& params) {
    Style style;
    style.interpolation = params.interpolation;
    style.antialias = params.antialias;
    return style;
  }

  static int64_t rounded(double length) { return std::max<int64_t>(static_cast<int64_t>(std::nearbyint(length)), 1); }

  Extent out_;
  Range scale_;
  Range ratio_;
  int64_t grow_;
};

TENON_COMPONENT(RandomResizedCrop, RandomResizedCropParams, "random_resized_crop",
                "Cuts a window of random size and shape out of an image and resizes it to a fixed size")

}  // namespace tenon::image_transforms
