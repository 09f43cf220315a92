// precision:fp32: everything in float32, the loss as it is.
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/precision.hpp>
#include <tenon/registration.hpp>

namespace tenon::precision {

class Fp32 final : public Precision {
 public:
  explicit Fp32(const NoParams& /*params*/) {}

  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] std::optional<at::ScalarType> autocast() const override { return std::nullopt; }
  [[nodiscard]] double scale() const override { return 1; }
  void update(bool /*finite*/) override {}
};

TENON_COMPONENT(Fp32, NoParams, "fp32", "Everything in float32: no autocast, no loss scale")

}  // namespace tenon::precision
