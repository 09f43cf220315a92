// transform:random_grayscale: makes an image grey, now and then.
#include <support/by_chance.hpp>
#include <support/colour.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct RandomGrayscaleParams : ByChanceParams {
  RandomGrayscaleParams() { p = 0.1; }

  TENON_PARAMS(RandomGrayscaleParams, coloured_field<RandomGrayscaleParams>(), chance_field<RandomGrayscaleParams>(),
               grow_field<RandomGrayscaleParams>())
};

class RandomGrayscale final : public ByChance<&grayscale> {
  using ByChance::ByChance;
};

TENON_COMPONENT(RandomGrayscale, RandomGrayscaleParams, "random_grayscale",
                "Makes an image grey with a probability; its channels stay")

}  // namespace tenon::image_transforms
