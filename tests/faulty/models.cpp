// Models that trace, build or run wrongly.
#include <optional>

#include <ATen/ATen.h>

#include <tenon/components/model.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/registration.hpp>

namespace {

/// One linear layer, and the way in which it fails.
enum class Fault { kNone, kBakedBatch, kBadReshape, kNaN, kMissingOutput, kUnknownToMeta };
TENON_ENUM(Fault, "none", "baked_batch", "bad_reshape", "nan", "missing_output", "unknown_to_meta")

struct FaultyParams {
  int64_t classes = 10;
  Fault fault = Fault::kNone;
  TENON_PARAMS(FaultyParams, tenon::field(&FaultyParams::classes, "classes", "Number of classes").min(1),
               tenon::field(&FaultyParams::fault, "fault", "What goes wrong"))
};

class FaultyRoot final : public tenon::nn::Module {
 public:
  FaultyRoot(const FaultyParams& params, int64_t features)
      : params_(params), linear_(this, "linear", features, params.classes) {}

 protected:
  tenon::Tensors forward(const tenon::Tensors& in, tenon::StepContext& context) override {
    at::Tensor x = in.at("image");
    // What an author writes who does not know that x.size(0) becomes a constant of the traced graph.
    if (params_.fault == Fault::kBakedBatch) x = x.reshape({x.size(0), x.numel() / x.size(0)});
    if (params_.fault == Fault::kBadReshape) x = x.reshape({x.size(0), 7});
    if (params_.fault == Fault::kUnknownToMeta) x = at::where(at::bucketize(x, at::ones({1}, x.options())).gt(9), x, x);
    at::Tensor logits = linear_(at::flatten(x, 1), context);
    if (params_.fault == Fault::kNaN) logits = logits / at::zeros_like(logits).mul(logits.detach());
    return {{params_.fault == Fault::kMissingOutput ? "logit" : "logits", logits}};
  }

 private:
  FaultyParams params_;
  tenon::nn::Linear linear_;
};

class FaultyModel final : public tenon::Model {
 public:
  explicit FaultyModel(const FaultyParams& params) : params_(params) {}

  static tenon::Ports ports() {
    return {.in = {tenon::Port::of("image", {tenon::Dtype::kFloat32}, {"N", "*"})},
            .out = {tenon::Port::of("logits", {tenon::Dtype::kFloat32}, {"N", "$classes"})}};
  }

  void build(const tenon::Spec& in) override {
    int64_t features = 1;
    for (std::size_t axis = 1; axis < in.front().shape.size(); ++axis) features *= in.front().shape[axis].size;
    root_.emplace(params_, features);
  }
  tenon::nn::Module& root() override { return *root_; }

 private:
  FaultyParams params_;
  std::optional<FaultyRoot> root_;
};

}  // namespace

TENON_COMPONENT(FaultyModel, FaultyParams, "faulty", "A linear model with a planted fault")
