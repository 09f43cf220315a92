// transform:concat: joins scalars and vectors to one vector.
#include <algorithm>
#include <string>
#include <vector>

#include <support/field_lists.hpp>
#include <support/numbers.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace tenon::transforms {

struct ConcatParams {
  std::vector<std::string> fields;
  std::string into = "features";
  bool keep = false;

  TENON_PARAMS(ConcatParams,
               tenon::field(&ConcatParams::fields, "fields",
                            "Scalars and vectors of numbers, in the order of the result")
                   .min_items(1)
                   .required(),
               tenon::field(&ConcatParams::into, "into", "Name of the vector, a field of float32"),
               tenon::field(&ConcatParams::keep, "keep", "Whether the joined fields stay as well"))
};

class Concat final : public Transform {
 public:
  explicit Concat(ConcatParams params) : params_(std::move(params)) {
    require_distinct(params_.fields);
    if (params_.keep && joins(params_.into)) {
      throw Error(ErrorCode::kConfig, "\"" + params_.into + "\" cannot stay and be the vector: give that another name",
                  "/into");
    }
  }

  static Ports ports() {
    return {{Port::any("$fields", number_types())},
            {Port::pass_all(), Port::of("$into", {Dtype::kFloat32}, {"F"}).copy_of("$fields")}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] Spec spec(const Spec& in) const override {
    int64_t length = 0;
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      const FieldSpec& field = in[static_cast<std::size_t>(index_of(in, params_.fields[i]))];
      const bool vector = field.shape.size() == 1 && field.shape.front().fixed();
      if (!is_number(field.dtype) || !(vector || field.shape.empty())) {
        throw Error(ErrorCode::kConfig,
                    "\"" + field.name + "\" is " + to_string(field) +
                        ", but only scalars and vectors of fixed length are joined",
                    "/fields/" + std::to_string(i));
      }
      length += vector ? field.shape.front().size : 1;
    }
    Spec out;
    std::copy_if(in.begin(), in.end(), std::back_inserter(out),
                 [&](const FieldSpec& field) { return params_.keep || !joins(field.name); });
    require_new(out, params_.into, "/into");
    out.push_back({params_.into, Dtype::kFloat32, {length}});
    return out;
  }

  void apply(Sample& sample, Rng& /*random*/, const When& /*when*/) const override {
    Shape shape{0};
    for (const std::string& name : params_.fields) shape[0] += sample.at(name).elements();
    auto to = sample.allocate(params_.into, Dtype::kFloat32, shape).as<float>().begin();
    for (const std::string& name : params_.fields) {
      with_elements(sample.at(name), [&](const auto& from) {
        to = std::transform(from.begin(), from.end(), to, [](auto value) { return static_cast<float>(value); });
      });
    }
  }

 private:
  [[nodiscard]] bool joins(const std::string& name) const {
    return std::find(params_.fields.begin(), params_.fields.end(), name) != params_.fields.end();
  }

  ConcatParams params_;
};

TENON_COMPONENT(Concat, ConcatParams, "concat", "Joins scalars and vectors of numbers to one vector of float32")

}  // namespace tenon::transforms
