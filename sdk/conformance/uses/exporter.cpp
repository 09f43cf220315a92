// Exporters: a small model written, opened and run.
#include <conformance/use.hpp>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <conformance/own_model.hpp>
#include <tenon/harness/exporters.hpp>
#include <tenon/harness/network.hpp>

namespace tenon::conformance {
namespace {

class UseExporter final : public UseOf<Exporter> {
 public:
  using UseOf::UseOf;

  void prepare() override {
    make();
    harness::build(model_, {{"x", Dtype::kFloat32, {"N", 6}}}, trial_.seed);
    model_.root().train(false);
  }

  void go(int64_t from, int64_t to, Seen& seen) override {
    const c10::NoGradGuard no_grad;
    for (int64_t i = from; i < to; ++i) {
      const std::filesystem::path file = subject_.scratch / fmt::format("model-{}{}", i, made_->extension());
      const Tensors example = OwnModel::example(trial_.seed + static_cast<uint64_t>(i));
      made_->write(model_, example, {"y", "class"}, file);
      const std::unique_ptr<Runnable> runnable = made_->open(file);
      for (const auto& [name, tensor] : runnable->run(example)) seen.add("output " + name, tensor);
      seen.add("extension", made_->extension());
      const Verify& verify = made_->verify();
      for (const int64_t batch : verify.batch) seen.add("verify.batch", static_cast<double>(batch));
      seen.add("verify.rtol", verify.rtol);
      seen.add("verify.atol", verify.atol);
      std::filesystem::remove(file);
    }
  }

 private:
  OwnModel model_;
};

constexpr Kind kExporter{"exporter", Exporter::kRevision, &make_use<UseExporter>};
TENON_KIND(kExporter);

}  // namespace
}  // namespace tenon::conformance
