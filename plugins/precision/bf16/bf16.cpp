// precision:bf16: parameters in float32, forward in bfloat16 where libtorch's autocast deems it safe.
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/precision.hpp>
#include <tenon/registration.hpp>

namespace tenon::precision {

/// bfloat16 has float32's range, so that gradients neither overflow nor vanish and the loss needs no scale.
class Bf16 final : public Precision {
 public:
  explicit Bf16(const NoParams& /*params*/) {}

  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] std::optional<at::ScalarType> autocast() const override { return at::kBFloat16; }
  [[nodiscard]] double scale() const override { return 1; }
  void update(bool /*finite*/) override {}
};

TENON_COMPONENT(Bf16, NoParams, "bf16", "Parameters in float32, forward under bfloat16 autocast, no loss scale")

}  // namespace tenon::precision
