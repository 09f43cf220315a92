// Changes of colour that take no parameters and happen now and then.
#pragma once

#include <string>

#include <support/chance.hpp>
#include <support/colouring.hpp>
#include <support/grow.hpp>

namespace tenon::image_transforms {

struct ByChanceParams {
  std::string image = "image";
  double p = 0.5;
  int64_t grow = 0;

  TENON_PARAMS(ByChanceParams, coloured_field<ByChanceParams>(), chance_field<ByChanceParams>(),
               grow_field<ByChanceParams>())
};

/// A transform that calls `kChange` with an image and memory of its size and channels.
template <void (*kChange)(const View& in, const Canvas& out)>
class ByChance : public Colouring {
 public:
  explicit ByChance(const ByChanceParams& params) : Colouring(params.image), p_(params.p), grow_(params.grow) {}

  /// One draw.
  void apply(Sample& sample, Rng& random, const When& when) const override {
    if (!random.chance(p_ * strength(grow_, when))) return;
    const View image = in(sample);
    kChange(image, out(sample, image));
  }

 private:
  double p_;
  int64_t grow_;
};

}  // namespace tenon::image_transforms
