// transform:random_grayscale: makes an image grey, now and then.
#include <string>

#include <support/colour.hpp>
#include <support/colouring.hpp>
#include <support/grow.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct RandomGrayscaleParams {
  std::string image = "image";
  double p = 0.1;
  int64_t grow = 0;

  TENON_PARAMS(RandomGrayscaleParams, coloured_field<RandomGrayscaleParams>(),
               tenon::field(&RandomGrayscaleParams::p, "p", "How often an image is changed").min(0).max(1),
               grow_field<RandomGrayscaleParams>())
};

class RandomGrayscale final : public Colouring {
 public:
  explicit RandomGrayscale(const RandomGrayscaleParams& params)
      : Colouring(params.image), p_(params.p), grow_(params.grow) {}

  /// One draw.
  void apply(Sample& sample, Rng& random, const When& when) const override {
    if (!random.chance(p_ * strength(grow_, when))) return;
    const View image = in(sample);
    grayscale(image, out(sample, image));
  }

 private:
  double p_;
  int64_t grow_;
};

TENON_COMPONENT(RandomGrayscale, RandomGrayscaleParams, "random_grayscale",
                "Makes an image grey with a probability; its channels stay")

}  // namespace tenon::image_transforms
