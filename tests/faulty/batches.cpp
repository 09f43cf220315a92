// Transforms of batches: one that wants samples, and one that only says that it works on batches.
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/batch_transform.hpp>
#include <tenon/registration.hpp>

namespace {

class NeedsSamples final : public tenon::BatchTransform {
 public:
  explicit NeedsSamples(const tenon::NoParams& /*params*/) {}

  static tenon::Ports ports() { return {.in = {}, .out = {tenon::Port::pass_all()}}; }
  static std::vector<std::string> abilities() { return {kAbility}; }

  [[nodiscard]] tenon::Spec spec(const tenon::Spec& in) const override { return in; }
  void apply_batch(tenon::Tensors& batch, tenon::Rng& /*random*/, const tenon::When& /*when*/) const override {
    if (batch.begin()->second.size(0) == 0) throw tenon::Error(tenon::ErrorCode::kData, "this batch has no samples");
  }
};

class OnlySaysSo final : public tenon::Transform {
 public:
  explicit OnlySaysSo(const tenon::NoParams& /*params*/) {}

  static tenon::Ports ports() { return {.in = {}, .out = {tenon::Port::pass_all()}}; }
  static std::vector<std::string> abilities() { return {tenon::BatchTransform::kAbility}; }

  [[nodiscard]] tenon::Spec spec(const tenon::Spec& in) const override { return in; }
  void apply(tenon::Sample& /*sample*/, tenon::Rng& /*random*/, const tenon::When& /*when*/) const override {}
};

}  // namespace

TENON_COMPONENT(NeedsSamples, tenon::NoParams, "needs_samples", "Fails on a batch without samples")
TENON_COMPONENT(OnlySaysSo, tenon::NoParams, "only_says_so", "Lists the ability of a batch transform, and lacks it")
