// Losses and metrics on drawn batches.
#include <conformance/use.hpp>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <tenon/harness/losses.hpp>
#include <tenon/harness/ranks.hpp>

namespace tenon::conformance {
namespace {

class UseLoss final : public UseOf<Loss> {
 public:
  using UseOf::UseOf;
  void prepare() override { make(); }
  void go(int64_t from, int64_t to, Seen& seen) override {
    for (int64_t i = from; i < to; ++i) {
      Tensors in = draw_batch(trial_.inputs, trial_.seed, i);
      seen.add(fmt::format("weight of batch {}", i), harness::weight_of(*made_, in, kBatch));
      for (const auto& [name, tensor] : in) {
        if (tensor.is_floating_point()) at::Tensor(tensor).requires_grad_(true);
      }
      const at::Tensor sum = harness::sum_of(*made_, in);
      seen.add(fmt::format("sum of batch {}", i), sum);
      if (!sum.requires_grad()) continue;
      sum.backward();
      for (const auto& [name, tensor] : in) {
        if (tensor.is_floating_point()) seen.add(fmt::format("gradient of {} in batch {}", name, i), tensor.grad());
      }
    }
  }
};

class UseMetric final : public UseOf<Metric> {
 public:
  using UseOf::UseOf;
  void prepare() override { make(); }
  void go(int64_t from, int64_t to, Seen& seen) override {
    for (int64_t i = from; i < to; ++i) {
      std::vector<Tensors> batches;
      for (int64_t j = 0; j < 3; ++j) batches.push_back(draw_batch(trial_.inputs, trial_.seed, 3 * i + j));
      std::size_t output = 0;
      for (const double value : harness::values_of(*made_, batches)) {
        seen.add(fmt::format("value {} of pass {}", output++, i), value);
      }
    }
  }
};

constexpr Kind kLoss{"loss", Loss::kRevision, &make_use<UseLoss>};
TENON_KIND(kLoss);
constexpr Kind kMetric{"metric", Metric::kRevision, &make_use<UseMetric>};
TENON_KIND(kMetric);

}  // namespace
}  // namespace tenon::conformance
