// transform:random_autocontrast: stretches an image to all values there are, now and then.
#include <support/by_chance.hpp>
#include <support/colour.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

class RandomAutocontrast final : public ByChance<&autocontrast> {
  using ByChance::ByChance;
};

TENON_COMPONENT(RandomAutocontrast, ByChanceParams, "random_autocontrast",
                "Stretches each channel to the values 0 to 255, with a probability")

}  // namespace tenon::image_transforms
