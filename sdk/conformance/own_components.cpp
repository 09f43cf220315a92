// What components that take components as parameters are given: an inner one that does something and keeps every field
// as it is declared.
#include <cstring>

#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace tenon::conformance {
namespace {

/// Turns the bytes of the first field around, and draws a number.
class Inner final : public Transform {
 public:
  explicit Inner(const NoParams& /*params*/) {}

  static Ports ports() { return {{}, {Port::pass_all()}}; }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }

  [[nodiscard]] Spec spec(const Spec& in) const override { return in; }

  void apply(Sample& sample, Rng& random, const When& /*when*/) const override {
    const Array from = sample.at(0);
    const Array to = sample.allocate(0, from.dtype, from.shape);
    const auto* const bytes = static_cast<const unsigned char*>(from.data);
    auto* const turned = static_cast<unsigned char*>(to.data);
    for (std::size_t i = 0; i < from.bytes(); ++i) turned[i] = bytes[from.bytes() - 1 - i];
    if (from.bytes() > 0) turned[0] = static_cast<unsigned char>(random.bits() & 1U);
  }
};

}  // namespace

TENON_COMPONENT(Inner, NoParams, "conformance_inner", "Turns the bytes of the first field around")

}  // namespace tenon::conformance
