// transform:random_horizontal_flip: swaps left and right, now and then.
#include <support/geometric.hpp>
#include <support/grow.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct RandomHorizontalFlipParams : JointParams {
  double p = 0.5;
  int64_t grow = 0;

  TENON_PARAMS(RandomHorizontalFlipParams,
               tenon::field(&RandomHorizontalFlipParams::p, "p", "How often an image is flipped").min(0).max(1),
               TENON_MOVED_FIELDS(RandomHorizontalFlipParams), grow_field<RandomHorizontalFlipParams>())
};

class RandomHorizontalFlip final : public Geometric {
 public:
  explicit RandomHorizontalFlip(const RandomHorizontalFlipParams& params)
      : Geometric(params, {}, false), p_(params.p), grow_(params.grow) {}

  static Ports ports() { return joint_ports(std::nullopt, false); }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }
  static Example example() { return joint_example("", false); }

 protected:
  /// One draw.
  [[nodiscard]] Map plan(const Extent& extent, Rng& random, const When& when) const override {
    Map map = Map::identity(extent);
    map.flip_horizontal = random.chance(p_ * strength(grow_, when));
    return map;
  }

 private:
  double p_;
  int64_t grow_;
};

TENON_COMPONENT(RandomHorizontalFlip, RandomHorizontalFlipParams, "random_horizontal_flip",
                "Swaps left and right of an image with a probability")

}  // namespace tenon::image_transforms
