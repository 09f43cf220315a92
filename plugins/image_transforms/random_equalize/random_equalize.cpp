// transform:random_equalize: evens out how often values occur, now and then.
#include <string>

#include <support/colour.hpp>
#include <support/colouring.hpp>
#include <support/grow.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct RandomEqualizeParams {
  std::string image = "image";
  double p = 0.5;
  int64_t grow = 0;

  TENON_PARAMS(RandomEqualizeParams, coloured_field<RandomEqualizeParams>(),
               tenon::field(&RandomEqualizeParams::p, "p", "How often an image is changed").min(0).max(1),
               grow_field<RandomEqualizeParams>())
};

class RandomEqualize final : public Colouring {
 public:
  explicit RandomEqualize(const RandomEqualizeParams& params)
      : Colouring(params.image), p_(params.p), grow_(params.grow) {}

  /// An image of more pixels than there are values.
  static Example example() { return {"{}", {}, {{{"image", Dtype::kUint8, {30, 20, 3}}, 0, 256}}}; }

  /// One draw.
  void apply(Sample& sample, Rng& random, const When& when) const override {
    if (!random.chance(p_ * strength(grow_, when))) return;
    const View image = in(sample);
    equalize(image, out(sample, image));
  }

 private:
  double p_;
  int64_t grow_;
};

TENON_COMPONENT(RandomEqualize, RandomEqualizeParams, "random_equalize",
                "Makes all values of each channel about equally frequent, with a probability")

}  // namespace tenon::image_transforms
