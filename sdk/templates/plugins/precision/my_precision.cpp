// precision:my_precision: forward in float16, and a loss scale that yields to overflow.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/precision.hpp>
#include <tenon/registration.hpp>

namespace {

struct MyPrecisionParams {
  double scale = 1024;
  int64_t recovery = 2000;

  TENON_PARAMS(MyPrecisionParams,
               tenon::field(&MyPrecisionParams::scale, "scale",
                            "What the loss is multiplied by at first, and at most; a power of two costs no accuracy")
                   .min(1)
                   .max(16777216),
               tenon::field(&MyPrecisionParams::recovery, "recovery",
                            "Steps in a row with finite gradients before a scale that was halved is doubled again")
                   .min(1))
};

/// float16 has no numbers between 0 and 6e-8: small gradients are lost there unless the loss is scaled (Micikevicius et
/// al., "Mixed precision training", ICLR 2018). Gradients that overflow halve the scale.
class MyPrecision final : public tenon::Precision {
 public:
  explicit MyPrecision(const MyPrecisionParams& params) : params_(params), scale_(params.scale) {}

  static std::vector<std::string> traits() { return {"deterministic", "stateful"}; }

  [[nodiscard]] std::optional<at::ScalarType> autocast() const override { return at::kHalf; }
  [[nodiscard]] double scale() const override { return scale_; }

  void update(bool finite) override {
    if (!finite) {
      scale_ = std::max(1.0, scale_ / 2);
      finite_steps_ = 0;
    } else if (++finite_steps_ >= params_.recovery) {
      scale_ = std::min(params_.scale, scale_ * 2);
      finite_steps_ = 0;
    }
  }

  void state(tenon::StateIo& io) override {
    io.io("scale", scale_);
    io.io("finite_steps", finite_steps_);
    if (!(scale_ >= 1 && scale_ <= params_.scale) || finite_steps_ < 0) {
      throw tenon::Error(tenon::ErrorCode::kCheckpoint, "the saved scale " + std::to_string(scale_) +
                                                            " does not lie between 1 and the parameter " +
                                                            "\"scale\", or its count of steps is negative");
    }
  }

 private:
  MyPrecisionParams params_;
  double scale_;
  int64_t finite_steps_ = 0;  // in a row, since the scale last changed
};

}  // namespace

TENON_COMPONENT(MyPrecision, MyPrecisionParams, "my_precision",
                "Parameters in float32, forward under float16 autocast, a loss scale that yields to overflow")
