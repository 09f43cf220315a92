// transform:copy: gives a field under a second name.
#include <cstring>
#include <string>

#include <support/field_lists.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace tenon::transforms {

struct CopyParams {
  std::string field;
  std::string into;

  TENON_PARAMS(CopyParams, tenon::field(&CopyParams::field, "field", "Field that is copied").required(),
               tenon::field(&CopyParams::into, "into", "Name of the copy").required())
};

class Copy final : public Transform {
 public:
  explicit Copy(CopyParams params) : params_(std::move(params)) {}

  static Ports ports() { return {{Port::any("$field")}, {Port::pass_all(), Port::any("$into").copy_of("$field")}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] Spec spec(const Spec& in) const override {
    Spec out = in;
    FieldSpec copy = in[static_cast<std::size_t>(index_of(in, params_.field))];
    require_new(in, params_.into, "/into");
    copy.name = params_.into;
    out.push_back(std::move(copy));
    return out;
  }

  void apply(Sample& sample, Rng& /*random*/, const When& /*when*/) const override {
    const Array in = sample.at(params_.field);
    const Array out = sample.allocate(params_.into, in.dtype, in.shape);
    if (in.bytes() > 0) std::memcpy(out.data, in.data, in.bytes());
  }

 private:
  CopyParams params_;
};

TENON_COMPONENT(Copy, CopyParams, "copy", "Gives a field under a second name")

}  // namespace tenon::transforms
