// A transform that is well-behaved; BAD_TRAITS and BAD_NAME make it tell something else than its manifest.
#include <string>
#include <vector>

#include <bad_plugins/traits.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace tenon::tests {

struct NothingParams {
  TENON_PARAMS(NothingParams)
};

class BadStep final : public Transform {
 public:
  explicit BadStep(const NothingParams& /*params*/) {}

  static Ports ports() { return {{}, {Port::pass_all()}}; }
  static std::vector<std::string> traits() { return BAD_TRAITS; }

  [[nodiscard]] Spec spec(const Spec& in) const override { return in; }
  void apply(Sample& /*sample*/, Rng& /*random*/, const When& /*when*/) const override {}
};

TENON_COMPONENT(BadStep, NothingParams, "bad_step", "Does nothing, in a plugin that is bad in some way")

}  // namespace tenon::tests
