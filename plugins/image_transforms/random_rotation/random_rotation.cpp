// transform:random_rotation: turns an image about its centre.
#include <support/geometric.hpp>
#include <support/grow.hpp>
#include <support/matrices.hpp>
#include <support/padding.hpp>
#include <support/ranges.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct RandomRotationParams : JointParams, FillParams {
  std::vector<double> degrees;
  WarpInterpolation interpolation = WarpInterpolation::kBilinear;
  int64_t grow = 0;

  TENON_PARAMS(RandomRotationParams,
               tenon::field(&RandomRotationParams::degrees, "degrees",
                            "Largest turn in either direction, or least and largest, counter-clockwise")
                   .min(-360)
                   .max(360)
                   .min_items(1)
                   .required(),
               tenon::field(&RandomRotationParams::interpolation, "interpolation",
                            "How values between pixels are made"),
               TENON_FILL_FIELDS(RandomRotationParams), TENON_CUT_FIELDS(RandomRotationParams),
               grow_field<RandomRotationParams>())
};

class RandomRotation final : public Geometric {
 public:
  explicit RandomRotation(const RandomRotationParams& params)
      : Geometric(params, filled(params, params.interpolation), true),
        degrees_(around_zero(params.degrees, "/degrees")),
        grow_(params.grow) {}

  static Ports ports() { return joint_ports(std::nullopt, true); }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }
  static Example example() { return joint_example(R"("degrees": [60])", true); }

 protected:
  /// One draw.
  [[nodiscard]] Map plan(const Extent& extent, Rng& random, const When& when) const override {
    Affine affine;
    affine.degrees = -narrowed(degrees_, 0, strength(grow_, when)).draw(random);
    return affine.degrees == 0 ? Map::identity(extent) : Map::warped(extent, affine_matrix(affine, extent));
  }

 private:
  Range degrees_;
  int64_t grow_;
};

TENON_COMPONENT(RandomRotation, RandomRotationParams, "random_rotation", "Turns an image about its centre, by random")

}  // namespace tenon::image_transforms
