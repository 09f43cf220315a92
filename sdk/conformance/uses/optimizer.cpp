// Optimizers: steps on two groups of drawn parameters, whose schedulable values change.
#include <conformance/use.hpp>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <tenon/harness/param_groups.hpp>

namespace tenon::conformance {
namespace {

class UseOptimizer final : public UseOf<Optimizer> {
 public:
  using UseOf::UseOf;

  void prepare() override {
    make();
    harness::Hypers hypers;
    if (subject_.schema().contains("properties")) {
      for (const auto& [name, property] : subject_.schema()["properties"].items()) {
        if (property.contains("x-schedulable")) hypers.emplace_back(name, trial_.params.at(name).get<double>());
      }
    }
    groups_ = harness::two_groups(at::kFloat, hypers, hypers);
    made_->attach(groups_);
  }

  void go(int64_t from, int64_t to, Seen& seen) override {
    for (int64_t i = from; i < to; ++i) {
      harness::steps(*made_, groups_, i, i + 1, trial_.seed);
      for (const ParamGroup& group : groups_)
        seen.add(fmt::format("parameters after step {}", i + 1), group.flat_param);
    }
  }

  void take_over(Use& from) override { harness::copy_values(dynamic_cast<UseOptimizer&>(from).groups_, groups_); }

  ~UseOptimizer() override { made_.reset(); }  // before the groups that it is attached to

 private:
  std::vector<ParamGroup> groups_;
};

constexpr Kind kOptimizer{"optimizer", Optimizer::kRevision, &make_use<UseOptimizer>};
TENON_KIND(kOptimizer);

}  // namespace
}  // namespace tenon::conformance
