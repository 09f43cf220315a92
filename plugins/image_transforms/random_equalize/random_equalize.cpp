// transform:random_equalize: evens out how often values occur, now and then.
#include <support/by_chance.hpp>
#include <support/colour.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

class RandomEqualize final : public ByChance<&equalize> {
 public:
  using ByChance::ByChance;

  /// An image of more pixels than there are values.
  static Example example() { return {"{}", {}, {{{"image", Dtype::kUint8, {30, 20, 3}}, 0, 256}}}; }
};

TENON_COMPONENT(RandomEqualize, ByChanceParams, "random_equalize",
                "Makes all values of each channel about equally frequent, with a probability")

}  // namespace tenon::image_transforms
