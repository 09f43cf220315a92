// Datasets: opened over items in memory where they take inputs, and read.
#include <conformance/use.hpp>

#include <fmt/format.h>

#include <conformance/lenient_sample.hpp>
#include <tenon/components/derived.hpp>
#include <tenon/error.hpp>
#include <tenon/harness/samples.hpp>

namespace tenon::conformance {
namespace {

class UseDataset final : public UseOf<Dataset> {
 public:
  using UseOf::UseOf;

  void prepare() override {
    make();
    std::vector<Dataset*> inputs;
    const bool takes_inputs = !subject_.manifest["ports"]["in"].empty() || harness::ability<Derived>(*made_) != nullptr;
    if (takes_inputs) {
      input_ = std::make_unique<harness::MemoryDataset>(fields(), items());
      input_->open({});
      inputs.push_back(input_.get());
    }
    harness::open(*made_, inputs);
  }

  void go(int64_t from, int64_t to, Seen& seen) override {
    seen.add("spec", made_->spec());
    seen.add("size", static_cast<double>(made_->size()));
    seen.add("fingerprint", made_->fingerprint());
    if (made_->size() == 0) throw Error(ErrorCode::kData, "it holds no items");
    for (int64_t i = from; i < to; ++i) {
      const Spec spec = made_->spec();
      LenientSample item(harness::MemorySample(), spec);
      made_->read(i % made_->size(), item);
      for (const auto& [name, array] : fields_after(item, spec)) {
        seen.add(fmt::format("field {} of item {}", name, i % made_->size()), array);
      }
    }
  }

 private:
  static Spec fields() {
    return {{"x", Dtype::kFloat32, {4}}, {"label", Dtype::kInt64, {}}, {"group", Dtype::kInt64, {}}};
  }

  [[nodiscard]] std::vector<harness::MemorySample> items() const {
    Inputs inputs;
    for (const FieldSpec& field : fields()) inputs.push_back({field, 0, field.dtype == Dtype::kInt64 ? 6.0 : 1.0});
    std::vector<harness::MemorySample> all;
    for (int64_t i = 0; i < 60; ++i) all.push_back(draw_sample(inputs, trial_.seed, i));
    return all;
  }

  std::unique_ptr<harness::MemoryDataset> input_;
};

constexpr Kind kDataset{"dataset", Dataset::kRevision, &make_use<UseDataset>};
TENON_KIND(kDataset);

}  // namespace
}  // namespace tenon::conformance
