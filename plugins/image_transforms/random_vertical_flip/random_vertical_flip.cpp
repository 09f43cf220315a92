// transform:random_vertical_flip: swaps top and bottom, now and then.
#include <support/geometric.hpp>
#include <support/grow.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct RandomVerticalFlipParams : JointParams {
  double p = 0.5;
  int64_t grow = 0;

  TENON_PARAMS(RandomVerticalFlipParams,
               tenon::field(&RandomVerticalFlipParams::p, "p", "How often an image is flipped").min(0).max(1),
               TENON_MOVED_FIELDS(RandomVerticalFlipParams), grow_field<RandomVerticalFlipParams>())
};

class RandomVerticalFlip final : public Geometric {
 public:
  explicit RandomVerticalFlip(const RandomVerticalFlipParams& params)
      : Geometric(params, {}, false), p_(params.p), grow_(params.grow) {}

  static Ports ports() { return joint_ports(std::nullopt, false); }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }
  static Example example() { return joint_example("", false); }

 protected:
  /// One draw.
  [[nodiscard]] Map plan(const Extent& extent, Rng& random, const When& when) const override {
    Map map = Map::identity(extent);
    map.flip_vertical = random.chance(p_ * strength(grow_, when));
    return map;
  }

 private:
  double p_;
  int64_t grow_;
};

TENON_COMPONENT(RandomVerticalFlip, RandomVerticalFlipParams, "random_vertical_flip",
                "Swaps top and bottom of an image with a probability")

}  // namespace tenon::image_transforms
