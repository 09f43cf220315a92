// transform:random_affine: turns, moves, scales and shears an image.
#include <cmath>
#include <string>

#include <support/geometric.hpp>
#include <support/grow.hpp>
#include <support/matrices.hpp>
#include <support/padding.hpp>
#include <support/ranges.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct RandomAffineParams : JointParams, FillParams {
  std::vector<double> degrees;
  std::vector<double> translate{0, 0};
  std::vector<double> scale{1, 1};
  std::vector<double> shear{0};
  WarpInterpolation interpolation = WarpInterpolation::kBilinear;
  int64_t grow = 0;

  TENON_PARAMS(
      RandomAffineParams,
      tenon::field(&RandomAffineParams::degrees, "degrees",
                   "Largest turn in either direction, or least and largest, clockwise")
          .min(-360)
          .max(360)
          .min_items(1)
          .required(),
      tenon::field(&RandomAffineParams::translate, "translate",
                   "Largest move sideways and up or down, shares of width and height")
          .min(0)
          .max(1)
          .min_items(2),
      tenon::field(&RandomAffineParams::scale, "scale", "Least and largest scale").above(0).max(100).min_items(2),
      tenon::field(&RandomAffineParams::shear, "shear",
                   "Shear along x in degrees: largest in either direction, or [least, largest], or with that along y: "
                   "[least x, largest x, least y, largest y]")
          .above(-90)
          .below(90)
          .min_items(1),
      tenon::field(&RandomAffineParams::interpolation, "interpolation", "How values between pixels are made"),
      TENON_FILL_FIELDS(RandomAffineParams), TENON_CUT_FIELDS(RandomAffineParams), grow_field<RandomAffineParams>())
};

class RandomAffine final : public Geometric {
 public:
  explicit RandomAffine(const RandomAffineParams& params)
      : Geometric(params, filled(params, params.interpolation), true),
        degrees_(around_zero(params.degrees, "/degrees")),
        scale_(range_of(params.scale, "/scale")),
        grow_(params.grow) {
    if (params.translate.size() != 2) {
      throw Error(ErrorCode::kConfig, "give two numbers: a share of the width and one of the height", "/translate");
    }
    right_ = params.translate[0];
    down_ = params.translate[1];
    if (params.shear.size() == 4) {
      shear_x_ = range_of({params.shear[0], params.shear[1]}, "/shear");
      shear_y_ = range_of({params.shear[2], params.shear[3]}, "/shear");
    } else {
      shear_x_ = around_zero(params.shear, "/shear");
    }
  }

  static Ports ports() { return joint_ports(std::nullopt, true); }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }
  static Example example() {
    return joint_example(R"("degrees": [10], "translate": [0.1, 0.1], "scale": [0.9, 1.1])", true);
  }

 protected:
  /// Six draws: turn, right, down, scale, shear along x and along y. Moves are by whole pixels.
  [[nodiscard]] Map plan(const Extent& extent, Rng& random, const When& when) const override {
    const double share = strength(grow_, when);
    Affine affine;
    affine.degrees = narrowed(degrees_, 0, share).draw(random);
    affine.right = moved(right_ * share * static_cast<double>(extent.width), random);
    affine.down = moved(down_ * share * static_cast<double>(extent.height), random);
    affine.scale = narrowed(scale_, 1, share).draw(random);
    affine.shear_x = narrowed(shear_x_, 0, share).draw(random);
    affine.shear_y = narrowed(shear_y_, 0, share).draw(random);
    const bool still = affine.degrees == 0 && affine.right == 0 && affine.down == 0 && affine.scale == 1 &&
                       affine.shear_x == 0 && affine.shear_y == 0;
    return still ? Map::identity(extent) : Map::warped(extent, affine_matrix(affine, extent));
  }

 private:
  static double moved(double most, Rng& random) { return std::nearbyint(random.uniform(-most, most)); }

  Range degrees_;
  Range scale_;
  Range shear_x_;
  Range shear_y_;
  double right_ = 0;
  double down_ = 0;
  int64_t grow_;
};

TENON_COMPONENT(RandomAffine, RandomAffineParams, "random_affine",
                "Turns, moves, scales and shears an image, by random")

}  // namespace tenon::image_transforms
