// transform:random_perspective: an image as seen from another place.
#include <support/chance.hpp>
#include <support/geometric.hpp>
#include <support/grow.hpp>
#include <support/matrices.hpp>
#include <support/padding.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct RandomPerspectiveParams : JointParams, FillParams {
  double distortion_scale = 0.5;
  double p = 0.5;
  WarpInterpolation interpolation = WarpInterpolation::kBilinear;
  int64_t grow = 0;

  TENON_PARAMS(RandomPerspectiveParams,
               tenon::field(&RandomPerspectiveParams::distortion_scale, "distortion_scale",
                            "How far corners move at most: share of the way to the centre")
                   .min(0)
                   .max(1),
               chance_field<RandomPerspectiveParams>(),
               tenon::field(&RandomPerspectiveParams::interpolation, "interpolation",
                            "How values between pixels are made"),
               TENON_FILL_FIELDS(RandomPerspectiveParams), TENON_CUT_FIELDS(RandomPerspectiveParams),
               grow_field<RandomPerspectiveParams>())
};

class RandomPerspective final : public Geometric {
 public:
  explicit RandomPerspective(const RandomPerspectiveParams& params)
      : Geometric(params, filled(params, params.interpolation), true),
        distortion_(params.distortion_scale),
        p_(params.p),
        grow_(params.grow) {}

  static Ports ports() { return joint_ports(std::nullopt, true); }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }
  static Example example() { return joint_example("", true); }

 protected:
  /// One draw whether, then eight: x and y of the corners top left, top right, bottom right, bottom left.
  [[nodiscard]] Map plan(const Extent& extent, Rng& random, const When& when) const override {
    if (!random.chance(p_)) return Map::identity(extent);
    const double most = distortion_ * strength(grow_, when);
    const auto room = [&](int64_t half) { return static_cast<int64_t>(most * static_cast<double>(half)); };
    const int64_t down = room(extent.height / 2);
    const int64_t across = room(extent.width / 2);
    std::array<Point, 4> corners;
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const bool right = i == 1 || i == 2;
      const bool bottom = i >= 2;
      const int64_t x = random.integer(0, across);
      const int64_t y = random.integer(0, down);
      corners[i].x = static_cast<double>(right ? extent.width - 1 - x : x);
      corners[i].y = static_cast<double>(bottom ? extent.height - 1 - y : y);
    }
    const std::optional<Matrix> matrix = perspective_matrix(corners, extent);
    return matrix ? Map::warped(extent, *matrix) : Map::identity(extent);
  }

 private:
  double distortion_;
  double p_;
  int64_t grow_;
};

TENON_COMPONENT(RandomPerspective, RandomPerspectiveParams, "random_perspective",
                "Shows an image as seen from another place: its corners move at random")

}  // namespace tenon::image_transforms
