// transform:to_float: a field as float32, scaled so that its largest value becomes 1.
#include <string>
#include <vector>

#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace tenon::transforms {

struct ToFloatParams {
  std::string field = "image";
  double max = 255;

  TENON_PARAMS(ToFloatParams, tenon::field(&ToFloatParams::field, "field", "Field that is converted"),
               tenon::field(&ToFloatParams::max, "max", "Value that becomes 1, in the field's own unit").above(0))
};

class ToFloat final : public Transform {
 public:
  explicit ToFloat(ToFloatParams params) : params_(std::move(params)) {}

  static Ports ports() {
    return {{Port::any("$field", {Dtype::kUint8, Dtype::kInt8, Dtype::kInt16, Dtype::kInt32, Dtype::kInt64,
                                  Dtype::kFloat32, Dtype::kFloat64})},
            {Port::pass_all(), Port::same("$field", {Dtype::kFloat32})}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] Spec spec(const Spec& in) const override {
    Spec out = in;
    FieldSpec& field = out[static_cast<std::size_t>(index_of(in, params_.field))];
    if (!takes(field.dtype)) {
      throw Error(ErrorCode::kConfig, "\"" + field.name + "\" is " + to_string(field) +
                                          ", which cannot be scaled: take a field of integers, float32 or float64");
    }
    field.dtype = Dtype::kFloat32;
    return out;
  }

  void apply(Sample& sample, Rng& /*random*/, const When& /*when*/) const override {
    const Array in = sample.at(params_.field);
    const Array out = sample.allocate(params_.field, Dtype::kFloat32, in.shape);
    switch (in.dtype) {
      case Dtype::kUint8: return convert<uint8_t>(in, out);
      case Dtype::kInt8: return convert<int8_t>(in, out);
      case Dtype::kInt16: return convert<int16_t>(in, out);
      case Dtype::kInt32: return convert<int32_t>(in, out);
      case Dtype::kInt64: return convert<int64_t>(in, out);
      case Dtype::kFloat32: return convert<float>(in, out);
      case Dtype::kFloat64: return convert<double>(in, out);
      default: throw Error(ErrorCode::kData, "cannot scale values of " + std::string(name_of(in.dtype)));
    }
  }

 private:
  static bool takes(Dtype dtype) {
    return dtype != Dtype::kBool && dtype != Dtype::kFloat16 && dtype != Dtype::kBfloat16;
  }

  /// Divides in double and rounds once, so that `max` itself gives exactly 1.
  template <class T>
  void convert(const Array& in, const Array& out) const {
    const std::span<const T> from = in.as<T>();
    const std::span<float> to = out.as<float>();
    for (std::size_t i = 0; i < from.size(); ++i) {
      to[i] = static_cast<float>(static_cast<double>(from[i]) / params_.max);
    }
  }

  ToFloatParams params_;
};

TENON_COMPONENT(ToFloat, ToFloatParams, "to_float", "Converts a field to float32 and divides it by its largest value")

}  // namespace tenon::transforms
