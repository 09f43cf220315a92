// precision:fp64: everything in float64, for proofs and for problems that need it.
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/precision.hpp>
#include <tenon/registration.hpp>

namespace tenon::precision {

class Fp64 final : public Precision {
 public:
  explicit Fp64(const NoParams& /*params*/) {}

  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] at::ScalarType storage() const override { return at::kDouble; }
  [[nodiscard]] std::optional<at::ScalarType> autocast() const override { return std::nullopt; }
  [[nodiscard]] double scale() const override { return 1; }
  void update(bool /*finite*/) override {}
};

TENON_COMPONENT(Fp64, NoParams, "fp64", "Everything in float64: no autocast, no loss scale")

}  // namespace tenon::precision
