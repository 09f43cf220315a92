// Models that trace, build or run wrongly.
#include <optional>

#include <ATen/ATen.h>

#include <tenon/components/model.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/registration.hpp>

namespace {

/// One linear layer, and the way in which it fails. The faults of export are those of authors who do not know that a
/// trace records numbers as constants; "evaluated_dropout" is right, "tiny" too.
enum class Fault {
  kNone,
  kBakedBatch,
  kBakedView,
  kBakedExpand,
  kBakedArange,
  kDividedByBatch,
  kBakedValue,
  kEndlessDropout,
  kEvaluatedDropout,
  kTiny,
  kBadReshape,
  kNaN,
  kEvaluatesToNaN,
  kMissingOutput,
  kUnknownToMeta
};
TENON_ENUM(Fault, "none", "baked_batch", "baked_view", "baked_expand", "baked_arange", "divided_by_batch",
           "baked_value", "endless_dropout", "evaluated_dropout", "tiny", "bad_reshape", "nan", "evaluates_to_nan",
           "missing_output", "unknown_to_meta")

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
    const at::Tensor x = prepared(in.at("image"));
    const at::Tensor logits = finished(linear_(at::flatten(x, 1), context), x, context);
    return {{params_.fault == Fault::kMissingOutput ? "logit" : "logits", logits}};
  }

 private:
  [[nodiscard]] at::Tensor prepared(const at::Tensor& x) const {
    switch (params_.fault) {
      case Fault::kBakedBatch: return x.reshape({x.size(0), x.numel() / x.size(0)});
      case Fault::kBakedView: return x.contiguous().view({x.size(0), -1});
      case Fault::kBadReshape: return x.reshape({x.size(0), 7});
      case Fault::kUnknownToMeta: return at::where(at::bucketize(x, at::ones({1}, x.options())).gt(9), x, x);
      default: return x;
    }
  }

  [[nodiscard]] at::Tensor finished(const at::Tensor& logits, const at::Tensor& x, tenon::StepContext& context) const {
    const int64_t batch = x.size(0);
    switch (params_.fault) {
      case Fault::kBakedExpand: return logits + at::zeros({1, 1}, x.options()).expand({batch, params_.classes});
      case Fault::kBakedArange: return logits.index_select(0, at::arange(batch, x.options().dtype(at::kLong)));
      case Fault::kDividedByBatch: return logits * (16.0 / static_cast<double>(batch));
      case Fault::kBakedValue: return x.is_meta() ? logits : logits * x.detach().mean().item<double>();
      case Fault::kEndlessDropout: return at::dropout(logits, 0.5, true);
      case Fault::kEvaluatedDropout: return at::dropout(logits, 0.5, trains(context));
      case Fault::kTiny: return logits * 1e-6;
      case Fault::kNaN: return logits / at::zeros_like(logits).mul(logits.detach());
      case Fault::kEvaluatesToNaN: return trains(context) ? logits : logits / at::zeros_like(logits) * 0.0;
      default: return logits;
    }
  }

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
