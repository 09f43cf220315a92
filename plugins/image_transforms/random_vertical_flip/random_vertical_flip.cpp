// transform:random_vertical_flip: swaps top and bottom, now and then.
#include <support/flipping.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

class RandomVerticalFlip final : public Flip<&Map::flip_vertical> {
  using Flip::Flip;
};

TENON_COMPONENT(RandomVerticalFlip, FlipParams, "random_vertical_flip",
                "Swaps top and bottom of an image with a probability")

}  // namespace tenon::image_transforms
