// A transform that counts on its thread: a fault that only other loader settings, or another process, bring to light.
#include <algorithm>
#include <cstdint>
#include <string>

#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace {

struct ByThreadParams {
  std::string field = "image";

  TENON_PARAMS(ByThreadParams, tenon::field(&ByThreadParams::field, "field", "The field to darken, of type uint8"))
};

/// Darkens every third sample that its thread has seen.
class ByThread final : public tenon::Transform {
 public:
  explicit ByThread(ByThreadParams params) : params_(std::move(params)) {}

  static tenon::Ports ports() {
    return {.in = {tenon::Port::of("$field", {tenon::Dtype::kUint8}, {"C", "H", "W"})},
            .out = {tenon::Port::pass_all(), tenon::Port::same("$field")}};
  }

  [[nodiscard]] tenon::Spec spec(const tenon::Spec& in) const override { return in; }

  void apply(tenon::Sample& sample, tenon::Rng& /*random*/, const tenon::When& /*when*/) const override {
    thread_local int64_t seen = 0;
    const int divisor = ++seen % 3 == 0 ? 4 : 1;
    const tenon::Array in = sample.at(params_.field);
    const tenon::Array out = sample.allocate(params_.field, in.dtype, in.shape);
    std::ranges::transform(in.as<uint8_t>(), out.as<uint8_t>().begin(),
                           [divisor](uint8_t value) { return static_cast<uint8_t>(value / divisor); });
  }

 private:
  ByThreadParams params_;
};

}  // namespace

TENON_COMPONENT(ByThread, ByThreadParams, "by_thread", "Darkens every third sample that its thread has seen")
