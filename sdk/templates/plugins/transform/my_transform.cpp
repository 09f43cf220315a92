// transform:my_transform: multiplies a field by a factor that is drawn for each sample.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace {

// Declared once: reading, defaults, bounds, messages and the page of `tenon plugins show` follow from it.
struct MyTransformParams {
  std::string field = "image";
  double amount = 0.2;

  TENON_PARAMS(
      MyTransformParams,  //
      tenon::field(&MyTransformParams::field, "field", "Field that is changed, of float32"),
      tenon::field(&MyTransformParams::amount, "amount", "Largest change, as a share of the value").min(0).max(1))
};

/// out = in · f, with one f a sample, uniform in [1 − amount, 1 + amount).
class MyTransform final : public tenon::Transform {
 public:
  explicit MyTransform(const MyTransformParams& params) : params_(params) {}

  // Pipelines are checked against these rules before any code of the plugin runs. "$field" is the parameter's value.
  static tenon::Ports ports() {
    return {.in = {tenon::Port::any("$field", {tenon::Dtype::kFloat32})},
            .out = {tenon::Port::pass_all(), tenon::Port::same("$field")}};
  }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }

  [[nodiscard]] tenon::Spec spec(const tenon::Spec& in) const override {
    const tenon::FieldSpec& field = in[static_cast<std::size_t>(tenon::index_of(in, params_.field))];
    if (field.dtype != tenon::Dtype::kFloat32) {
      throw tenon::Error(tenon::ErrorCode::kConfig,
                         "\"" + field.name + "\" is " + to_string(field) +
                             ", but only float32 can be scaled: put transform:to_float before it",
                         "/field");
    }
    return in;
  }

  // Many threads call this at once. `random` belongs to this sample: draw from nothing else, and keep nothing.
  void apply(tenon::Sample& sample, tenon::Rng& random, const tenon::When& /*when*/) const override {
    const auto factor = static_cast<float>(random.uniform(1 - params_.amount, 1 + params_.amount));
    const tenon::Array in = sample.at(params_.field);
    const std::span<const float> from = in.as<float>();
    const std::span<float> to = sample.allocate(params_.field, in.dtype, in.shape).as<float>();
    std::transform(from.begin(), from.end(), to.begin(), [factor](float value) { return value * factor; });
  }

 private:
  MyTransformParams params_;
};

}  // namespace

TENON_COMPONENT(MyTransform, MyTransformParams, "my_transform",
                "Multiplies a field by a factor that is drawn for each sample")
