// loss:distillation: a student's logits towards those of a teacher.
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <support/shapes.hpp>
#include <tenon/components/loss.hpp>
#include <tenon/ports.hpp>
#include <tenon/registration.hpp>

namespace tenon::losses {

struct DistillationParams {
  double temperature = 4;

  TENON_PARAMS(DistillationParams,
               field(&DistillationParams::temperature, "temperature",
                     "Divides both logits; higher ones show more of the teacher's small probabilities")
                   .above(0))
};

/// For logits s of the student and t of the teacher [N, C] and the temperature T: sum = T²·Σₙ KL(softmax(tₙ/T) ‖
/// softmax(sₙ/T)); each sample weighs 1. T² keeps the gradient's size when T changes (Hinton, Vinyals and Dean,
/// "Distilling the knowledge in a neural network", arXiv:1503.02531). No gradient flows to the teacher. Taken in the
/// student's type, but for types of 16 bits in float32.
class Distillation final : public Loss {
 public:
  explicit Distillation(const DistillationParams& params) : temperature_(params.temperature) {}

  static Ports ports() {
    const std::vector<Dtype> floats{Dtype::kFloat32, Dtype::kFloat64, Dtype::kFloat16, Dtype::kBfloat16};
    return {{Port::of("student", floats, {"N", "C"}), Port::of("teacher", floats, {"N", "C"})}, {}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] at::Tensor weight(const Tensors& /*batch_in*/) override { return {}; }

  [[nodiscard]] at::Tensor sum(const Tensors& in, StepContext& /*context*/) override {
    const at::Tensor& student = in.at("student");
    const at::Tensor& teacher = in.at("teacher");
    if (student.dim() != 2 || !student.sizes().equals(teacher.sizes())) {
      throw Error(ErrorCode::kConfig, "student " + spelled(student) + " and teacher " + spelled(teacher) +
                                          " must be logits of the same classes, [N, C]");
    }
    const at::ScalarType type = at::promote_types(student.scalar_type(), at::kFloat);
    const at::Tensor ours = at::log_softmax(student.to(type) / temperature_, 1);
    const at::Tensor wanted = at::log_softmax(teacher.detach().to(type) / temperature_, 1);
    return at::kl_div(ours, wanted, at::Reduction::Sum, /*log_target=*/true) * (temperature_ * temperature_);
  }

 private:
  double temperature_;
};

TENON_COMPONENT(Distillation, DistillationParams, "distillation",
                "Divergence of a student's class probabilities from a teacher's, softened by a temperature")

}  // namespace tenon::losses
