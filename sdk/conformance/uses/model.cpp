// Models: built, given memory, trained one step at a time by plain gradient descent, and evaluated.
#include <conformance/use.hpp>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <tenon/harness/network.hpp>

namespace tenon::conformance {
namespace {

class UseModel final : public UseOf<Model> {
 public:
  using UseOf::UseOf;

  void prepare() override {
    make();
    Spec in;
    for (const ExampleInput& input : trial_.inputs) in.push_back(input.field);
    harness::build(*made_, in, trial_.seed);
  }

  void go(int64_t from, int64_t to, Seen& seen) override {
    for (int64_t i = from; i < to; ++i) {
      const Tensors in = draw_batch(trial_.inputs, trial_.seed, i);
      const uint64_t key = random_key({trial_.seed, static_cast<uint64_t>(i), trial_.draws});
      {
        const c10::NoGradGuard no_grad;
        for (const auto& [name, tensor] : harness::run(made_->root(), in, false, key)) {
          seen.add(fmt::format("output {} in evaluation {}", name, i), tensor);
        }
      }
      at::Tensor total;
      for (const auto& [name, tensor] : harness::run(made_->root(), in, true, key)) {
        seen.add(fmt::format("output {} in step {}", name, i), tensor);
        if (!tensor.requires_grad()) continue;
        const at::Tensor part = tensor.to(at::kFloat).square().sum();
        total = total.defined() ? total + part : part;
      }
      if (total.defined()) total.backward();
      descend();
    }
  }

  void take_over(Use& from) override {
    const Tensors theirs = harness::tensors_of(dynamic_cast<UseModel&>(from).made_->root());
    const c10::NoGradGuard no_grad;
    for (const auto& [name, tensor] : harness::tensors_of(made_->root())) at::Tensor(tensor).copy_(theirs.at(name));
  }

 private:
  void descend() {
    const c10::NoGradGuard no_grad;
    made_->root().visit_params([](const std::string& /*name*/, nn::Param& slot) {
      at::Tensor value = slot.value();
      if (!value.grad().defined()) return;
      value.sub_(value.grad(), 1e-3);
      value.mutable_grad().reset();
    });
  }
};

constexpr Kind kModel{"model", Model::kRevision, &make_use<UseModel>};
TENON_KIND(kModel);

}  // namespace
}  // namespace tenon::conformance
