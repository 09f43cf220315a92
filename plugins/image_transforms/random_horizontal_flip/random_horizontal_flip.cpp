// transform:random_horizontal_flip: swaps left and right, now and then.
#include <support/flipping.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

class RandomHorizontalFlip final : public Flip<&Map::flip_horizontal> {
  using Flip::Flip;
};

TENON_COMPONENT(RandomHorizontalFlip, FlipParams, "random_horizontal_flip",
                "Swaps left and right of an image with a probability")

}  // namespace tenon::image_transforms
