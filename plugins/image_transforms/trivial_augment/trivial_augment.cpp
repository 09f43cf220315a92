// transform:trivial_augment: one operation of random strength.
#include <string>

#include <support/augment.hpp>
#include <support/geometric.hpp>
#include <support/grow.hpp>
#include <support/padding.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct TrivialAugmentParams : JointParams8, FillParams {
  int64_t num_magnitude_bins = 31;
  std::vector<Operation> operations = all_operations();
  WarpInterpolation interpolation = WarpInterpolation::kBilinear;
  int64_t grow = 0;

  TENON_PARAMS(
      TrivialAugmentParams,
      tenon::field(&TrivialAugmentParams::num_magnitude_bins, "num_magnitude_bins",
                   "Number of strengths that are drawn from")
          .min(2),
      tenon::field(&TrivialAugmentParams::operations, "operations", "What is drawn from, all alike").min_items(1),
      tenon::field(&TrivialAugmentParams::interpolation, "interpolation", "How values between pixels are made"),
      TENON_FILL_FIELDS(TrivialAugmentParams), TENON_CUT_FIELDS(TrivialAugmentParams),
      grow_field<TrivialAugmentParams>())
};

/// Müller and Hutter, "TrivialAugment: tuning-free yet state-of-the-art data augmentation", ICCV 2021, in its wide
/// form.
class TrivialAugment final : public Transform {
 public:
  explicit TrivialAugment(const TrivialAugmentParams& params)
      : joint_(params, true, Depths::k8),
        style_(filled(params, params.interpolation)),
        operations_(params.operations),
        bins_(params.num_magnitude_bins),
        grow_(params.grow) {}

  static Ports ports() { return joint_ports(std::nullopt, true, Depths::k8); }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }
  static Example example() { return joint_example(R"("operations": ["rotate", "shear_x", "brightness"])", true); }

  [[nodiscard]] Spec spec(const Spec& in) const override { return joint_.spec(in, std::nullopt, style_.fill); }

  /// One draw which, one how strong, and one for the direction where there are two.
  void apply(Sample& sample, Rng& random, const When& when) const override {
    const int64_t which = random.integer(0, static_cast<int64_t>(operations_.size()) - 1);
    const double level = static_cast<double>(random.integer(0, bins_ - 1)) / static_cast<double>(bins_ - 1);
    const Step step = step_of(operations_[static_cast<std::size_t>(which)], level * strength(grow_, when), random);
    apply_steps(sample, joint_, {&step, 1}, kReach, style_);
  }

 private:
  static constexpr Reach kReach{0.99, 0, 32, 135, 0.99, 6};

  Joint joint_;
  Style style_;
  std::vector<Operation> operations_;
  int64_t bins_;
  int64_t grow_;
};

TENON_COMPONENT(TrivialAugment, TrivialAugmentParams, "trivial_augment",
                "Applies one random operation of random strength to an image, as TrivialAugment does")

}  // namespace tenon::image_transforms
