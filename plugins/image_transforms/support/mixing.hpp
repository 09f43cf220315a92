// What mixup and cutmix have in common: two samples, a share of each, labels that say so.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <support/chance.hpp>
#include <support/grow.hpp>
#include <support/joint.hpp>
#include <tenon/components/multi_sample.hpp>
#include <tenon/components/transform.hpp>

namespace tenon::image_transforms {

struct MixingParams {
  std::string image = "image";
  std::string label = "label";
  int64_t classes = 0;
  double alpha = 1;
  double p = 1;
  int64_t grow = 0;

  TENON_PARAMS(MixingParams, field(&MixingParams::image, "image", "Image that is mixed: uint8 [H, W, C] of one size"),
               field(&MixingParams::label, "label",
                     "Class number, int64 [], or shares of classes, float32 [classes]; comes out as shares"),
               field(&MixingParams::classes, "classes", "Number of classes").min(1).required(),
               field(&MixingParams::alpha, "alpha",
                     "Both parameters of the beta distribution of the first sample's share: 1 draws all alike")
                   .min(0.001)
                   .max(1000),
               chance_field<MixingParams>("How often a sample is mixed"), grow_field<MixingParams>())
};

/// A draw of the beta distribution with both parameters `alpha`, 0 to 1.
[[nodiscard]] double draw_beta(double alpha, Rng& random);

/// A transform that mixes a sample with one other; alone, it only turns the label into shares.
class Mixing : public Transform, public MultiSample {
 public:
  static Ports ports() {
    return {{Port::of("$image", {Dtype::kUint8}, {"H", "W", "C"}), Port::any("$label")},
            {Port::pass_all(), Port::of("$label", {Dtype::kFloat32}, {"$classes"})}};
  }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }
  static std::vector<std::string> abilities() { return {MultiSample::kAbility}; }
  static Example example() {
    return {
        R"({"classes": 4})", {}, {{{"image", Dtype::kUint8, {6, 5, 3}}, 0, 256}, {{"label", Dtype::kInt64, {}}, 0, 4}}};
  }

  explicit Mixing(MixingParams params) : params_(std::move(params)) {}

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == MultiSample::kAbility ? static_cast<MultiSample*>(this) : nullptr;
  }

  [[nodiscard]] int64_t others() const noexcept override { return 1; }

  [[nodiscard]] Spec spec(const Spec& in) const override;

  /// One draw whether, then those of the share, then those of mix().
  void apply_with(Sample& sample, std::span<const Sample* const> others, Rng& random, const When& when) const override;

  void apply(Sample& sample, Rng& random, const When& when) const override { apply_with(sample, {}, random, when); }

 protected:
  /// Draws the mixture of `share` of the first image and the rest of the second, which has the same size and channels.
  /// \returns the share of the first that it came to.
  [[nodiscard]] virtual double mix(const View& first, const View& second, double share, Rng& random,
                                   const Canvas& out) const = 0;

 private:
  /// Adds a sample's label, times `share`, to shares of classes.
  void add_label(const Sample& sample, double share, std::span<float> shares) const;

  MixingParams params_;
};

}  // namespace tenon::image_transforms
