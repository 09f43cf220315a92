// loss:dice: one minus the overlap of soft masks, class by class and image by image.
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <support/class_targets.hpp>
#include <support/mask.hpp>
#include <tenon/components/loss.hpp>
#include <tenon/registration.hpp>

namespace tenon::losses {

struct DiceParams {
  double smooth = 1;
  int64_t ignore = 255;

  TENON_PARAMS(DiceParams,
               field(&DiceParams::smooth, "smooth",
                     "Pixels added to the overlap and to the area, so that a class in neither mask counts as found")
                   .above(0),
               field(&DiceParams::ignore, "ignore", "Value of pixels in the mask that do not count"))
};

/// For logits x [N, C, H, W] and a mask y [N, H, W], with p = softmax(x) over C, g_c = [y = c] and s = smooth, sums over
/// the pixels of one image that count: sum = Σₙ mean_c(1 − (2·Σ p_c·g_c + s)/(Σ p_c + Σ g_c + s)), weight = the number of
/// images with a pixel that counts (Milletari et al., "V-Net", 3DV 2016, in the form with plain areas). Images do not
/// meet. Taken in the logits' type, but for types of 16 bits in float32.
class Dice final : public Loss {
 public:
  explicit Dice(const DiceParams& params) : smooth_(params.smooth), targets_({}, params.ignore, "ignore") {}

  static Ports ports() { return {{pixel_logits_port(), mask_port()}, {}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] at::Tensor weight(const Tensors& batch_in) override {
    return batch_in.at("target").to(at::kLong).ne(targets_.ignored()).flatten(1).any(1).sum(at::kDouble);
  }

  [[nodiscard]] at::Tensor sum(const Tensors& in, StepContext& /*context*/) override {
    const auto [logits, mask] = pixels(in);
    const int64_t classes = logits.size(1);
    targets_.check(mask, classes);
    const at::ScalarType type = at::promote_types(logits.scalar_type(), at::kFloat);
    const at::Tensor counts = mask.ne(targets_.ignored()).unsqueeze(1);
    const at::Tensor number = at::arange(classes, mask.options()).view({1, classes, 1, 1});
    const at::Tensor wanted = mask.unsqueeze(1).eq(number).logical_and(counts).to(type);
    const at::Tensor given = logits.to(type).softmax(1) * counts;
    const at::Tensor overlap = (given * wanted).sum({2, 3});
    const at::Tensor area = given.sum({2, 3}) + wanted.sum({2, 3});
    // An image of which no pixel counts has an overlap of smooth/smooth and adds nothing.
    return (1 - (2 * overlap + smooth_) / (area + smooth_)).mean(1).sum();
  }

 private:
  double smooth_;
  ClassTargets targets_;
};

TENON_COMPONENT(Dice, DiceParams, "dice",
                "One minus the Dice overlap of softmax and mask, averaged over the classes of each image")

}  // namespace tenon::losses
