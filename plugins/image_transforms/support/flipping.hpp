// Flips that happen now and then.
#pragma once

#include <support/chance.hpp>
#include <support/geometric.hpp>
#include <support/grow.hpp>

namespace tenon::image_transforms {

struct FlipParams : JointParams {
  double p = 0.5;
  int64_t grow = 0;

  TENON_PARAMS(FlipParams, chance_field<FlipParams>("How often an image is flipped"), TENON_MOVED_FIELDS(FlipParams),
               grow_field<FlipParams>())
};

/// A transform that sets `kFlip` of a map.
template <bool Map::*kFlip>
class Flip : public Geometric {
 public:
  explicit Flip(const FlipParams& params) : Geometric(params, {}, false), p_(params.p), grow_(params.grow) {}

  static Ports ports() { return joint_ports(std::nullopt, false); }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }
  static Example example() { return joint_example("", false); }

 protected:
  /// One draw.
  [[nodiscard]] Map plan(const Extent& extent, Rng& random, const When& when) const override {
    Map map = Map::identity(extent);
    map.*kFlip = random.chance(p_ * strength(grow_, when));
    return map;
  }

 private:
  double p_;
  int64_t grow_;
};

}  // namespace tenon::image_transforms
