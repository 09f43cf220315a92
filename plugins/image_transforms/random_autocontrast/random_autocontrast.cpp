// transform:random_autocontrast: stretches an image to all values there are, now and then.
#include <string>

#include <support/colour.hpp>
#include <support/colouring.hpp>
#include <support/grow.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct RandomAutocontrastParams {
  std::string image = "image";
  double p = 0.5;
  int64_t grow = 0;

  TENON_PARAMS(RandomAutocontrastParams, coloured_field<RandomAutocontrastParams>(),
               tenon::field(&RandomAutocontrastParams::p, "p", "How often an image is changed").min(0).max(1),
               grow_field<RandomAutocontrastParams>())
};

class RandomAutocontrast final : public Colouring {
 public:
  explicit RandomAutocontrast(const RandomAutocontrastParams& params)
      : Colouring(params.image), p_(params.p), grow_(params.grow) {}

  /// One draw.
  void apply(Sample& sample, Rng& random, const When& when) const override {
    if (!random.chance(p_ * strength(grow_, when))) return;
    const View image = in(sample);
    autocontrast(image, out(sample, image));
  }

 private:
  double p_;
  int64_t grow_;
};

TENON_COMPONENT(RandomAutocontrast, RandomAutocontrastParams, "random_autocontrast",
                "Stretches each channel to the values 0 to 255, with a probability")

}  // namespace tenon::image_transforms
