// transform:rand_augment: a few operations, drawn from a list, all with the same magnitude.
#include <string>

#include <support/augment.hpp>
#include <support/geometric.hpp>
#include <support/grow.hpp>
#include <support/padding.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct RandAugmentParams : JointParams8, FillParams {
  int64_t num_ops = 2;
  int64_t magnitude = 9;
  int64_t num_magnitude_bins = 31;
  std::vector<Operation> operations = all_operations();
  WarpInterpolation interpolation = WarpInterpolation::kBilinear;
  int64_t grow = 0;

  TENON_PARAMS(RandAugmentParams,
               tenon::field(&RandAugmentParams::num_ops, "num_ops", "Operations on each image").min(0).max(100),
               tenon::field(&RandAugmentParams::magnitude, "magnitude",
                            "Strength of all operations, from 0 to num_magnitude_bins - 1")
                   .min(0),
               tenon::field(&RandAugmentParams::num_magnitude_bins, "num_magnitude_bins", "Number of strengths").min(2),
               tenon::field(&RandAugmentParams::operations, "operations", "What is drawn from, all alike").min_items(1),
               tenon::field(&RandAugmentParams::interpolation, "interpolation", "How values between pixels are made"),
               TENON_FILL_FIELDS(RandAugmentParams), TENON_CUT_FIELDS(RandAugmentParams),
               grow_field<RandAugmentParams>())
};

/// Cubuk et al., "RandAugment: practical automated data augmentation with a reduced search space", NeurIPS 2020.
class RandAugment final : public Transform {
 public:
  explicit RandAugment(const RandAugmentParams& params)
      : joint_(params, true, Depths::k8),
        style_(filled(params, params.interpolation)),
        operations_(params.operations),
        num_ops_(params.num_ops),
        level_(static_cast<double>(params.magnitude) / static_cast<double>(params.num_magnitude_bins - 1)),
        grow_(params.grow) {
    if (level_ > 1) {
      throw Error(ErrorCode::kConfig,
                  "magnitude is at most num_magnitude_bins - 1, " + std::to_string(params.num_magnitude_bins - 1),
                  "/magnitude");
    }
  }

  static Ports ports() { return joint_ports(std::nullopt, true, Depths::k8); }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }
  static Example example() { return joint_example("", true); }

  [[nodiscard]] Spec spec(const Spec& in) const override { return joint_.spec(in, std::nullopt, style_.fill); }

  /// For each operation one draw which, and one for the direction where there are two.
  void apply(Sample& sample, Rng& random, const When& when) const override {
    const double level = level_ * strength(grow_, when);
    std::vector<Step> steps;
    for (int64_t i = 0; i < num_ops_; ++i) {
      const int64_t which = random.integer(0, static_cast<int64_t>(operations_.size()) - 1);
      steps.push_back(step_of(operations_[static_cast<std::size_t>(which)], level, random));
    }
    apply_steps(sample, joint_, steps, kReach, style_);
  }

 private:
  static constexpr Reach kReach{0.3, 150.0 / 331, 0, 30, 0.9, 4};

  Joint joint_;
  Style style_;
  std::vector<Operation> operations_;
  int64_t num_ops_;
  double level_;
  int64_t grow_;
};

TENON_COMPONENT(RandAugment, RandAugmentParams, "rand_augment",
                "Applies a few random operations of one strength to an image, as RandAugment does")

}  // namespace tenon::image_transforms
