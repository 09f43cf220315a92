// transform:noise: a new field of standard normal draws.
#include <string>
#include <vector>

#include <support/field_lists.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace tenon::transforms {

struct NoiseParams {
  std::string name = "noise";
  std::vector<int64_t> shape;

  TENON_PARAMS(NoiseParams, tenon::field(&NoiseParams::name, "name", "Name of the new field of float32"),
               tenon::field(&NoiseParams::shape, "shape", "Its shape for one sample; an empty list makes a scalar")
                   .min(1)
                   .required())
};

class Noise final : public Transform {
 public:
  explicit Noise(NoiseParams params) : params_(std::move(params)) {}

  static Ports ports() { return {{}, {Port::pass_all(), Port::any("$name", {Dtype::kFloat32})}}; }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }

  [[nodiscard]] Spec spec(const Spec& in) const override {
    require_new(in, params_.name, "/name");
    Spec out = in;
    out.push_back({params_.name, Dtype::kFloat32, {params_.shape.begin(), params_.shape.end()}});
    return out;
  }

  /// One draw an element, in row-major order.
  void apply(Sample& sample, Rng& random, const When& /*when*/) const override {
    for (float& element : sample.allocate(params_.name, Dtype::kFloat32, params_.shape).as<float>()) {
      element = static_cast<float>(random.normal());
    }
  }

 private:
  NoiseParams params_;
};

TENON_COMPONENT(Noise, NoiseParams, "noise",
                "Adds a field of standard normal draws, new ones for every sample and epoch")

}  // namespace tenon::transforms
