// transform:one_hot: the index of a class becomes a vector with a 1 at its place.
#include <algorithm>
#include <string>
#include <vector>

#include <support/field_lists.hpp>
#include <support/numbers.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace tenon::transforms {

struct OneHotParams {
  std::vector<std::string> fields;
  int64_t classes = 0;

  TENON_PARAMS(
      OneHotParams,
      tenon::field(&OneHotParams::fields, "fields", "Fields of indices from 0 on: scalars of an integer type")
          .min_items(1)
          .required(),
      tenon::field(&OneHotParams::classes, "classes", "Number of classes, the length of the vectors").min(1).required())
};

class OneHot final : public Transform {
 public:
  explicit OneHot(OneHotParams params) : params_(std::move(params)) { require_distinct(params_.fields); }

  static Ports ports() {
    return {{Port::of("$fields", integer_types(), {})},
            {Port::pass_all(), Port::of("$fields", {Dtype::kFloat32}, {"$classes"})}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] Spec spec(const Spec& in) const override {
    Spec out = in;
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      FieldSpec& field = out[static_cast<std::size_t>(index_of(in, params_.fields[i]))];
      if (!is_integer(field.dtype) || !field.shape.empty()) {
        throw Error(
            ErrorCode::kConfig,
            "\"" + field.name + "\" is " + to_string(field) +
                ", but an index is a scalar of an integer type (transform:encode_categories makes them of texts)",
            "/fields/" + std::to_string(i));
      }
      field = {field.name, Dtype::kFloat32, {params_.classes}};
    }
    return out;
  }

  void apply(Sample& sample, Rng& /*random*/, const When& /*when*/) const override {
    const Shape shape{params_.classes};
    for (const std::string& name : params_.fields) {
      const int64_t index = integer_of(sample.at(name));
      if (index < 0 || index >= params_.classes) {
        throw Error(ErrorCode::kData, "\"" + name + "\" is " + std::to_string(index) +
                                          ", which is no class: there are " + std::to_string(params_.classes) +
                                          " (0 to " + std::to_string(params_.classes - 1) + ")");
      }
      const std::span<float> out = sample.allocate(name, Dtype::kFloat32, shape).as<float>();
      std::fill(out.begin(), out.end(), 0.0F);
      out[static_cast<std::size_t>(index)] = 1;
    }
  }

 private:
  OneHotParams params_;
};

TENON_COMPONENT(OneHot, OneHotParams, "one_hot", "Turns the index of a class into a vector with a 1 at its place")

}  // namespace tenon::transforms
