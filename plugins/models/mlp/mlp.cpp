// model:mlp: fully connected layers over a flattened input.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/model.hpp>
#include <tenon/nn/dropout.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/registration.hpp>

namespace tenon::models {

struct MlpParams {
  std::optional<int64_t> classes;
  std::optional<int64_t> size;
  std::vector<int64_t> hidden{128};
  double dropout = 0;
  std::string input = "image";
  std::string output = "logits";

  TENON_PARAMS(MlpParams,
               field(&MlpParams::classes, "classes",
                     "Number of classes, the size of the output; \"none\" where \"size\" gives it")
                   .min(1)
                   .word("none"),
               field(&MlpParams::size, "size",
                     "Size of an output that stands for no classes: of predicted values, of features, of one logit")
                   .min(1)
                   .word("classes"),
               field(&MlpParams::hidden, "hidden", "Size of each hidden layer, from the input on; may be empty").min(1),
               field(&MlpParams::dropout, "dropout", "Probability that a hidden feature is dropped").min(0).below(1),
               field(&MlpParams::input, "input", "Name of the input port"),
               field(&MlpParams::output, "output", "Name of the output port, such as \"value\" in a regression"))
};

namespace {

/// Linear, ReLU, dropout.
class Hidden final : public nn::Layer {
 public:
  Hidden(nn::Module* parent, std::string name, int64_t in, int64_t out, double dropout)
      : Layer(parent, std::move(name)), linear_(this, "linear", in, out), dropout_(this, "dropout", dropout) {}

 protected:
  at::Tensor forward(const at::Tensor& in, StepContext& context) override {
    return dropout_(at::relu(linear_(in, context)), context);
  }

 private:
  nn::Linear linear_;
  nn::Dropout dropout_;
};

class Net final : public nn::Module {
 public:
  Net(const MlpParams& params, int64_t features, int64_t size) : input_(params.input), output_(params.output) {
    for (const int64_t width : params.hidden) {
      const std::string name = "hidden" + std::to_string(hidden_.size() + 1);
      hidden_.push_back(std::make_unique<Hidden>(this, name, features, width, params.dropout));
      features = width;
    }
    head_ = std::make_unique<nn::Linear>(this, "head", features, size);
  }

 protected:
  Tensors forward(const Tensors& in, StepContext& context) override {
    at::Tensor features = at::flatten(in.at(input_), 1);
    for (const std::unique_ptr<Hidden>& layer : hidden_) features = (*layer)(features, context);
    return {{output_, (*head_)(features, context)}};
  }

 private:
  std::string input_;
  std::string output_;
  std::vector<std::unique_ptr<Hidden>> hidden_;
  std::unique_ptr<nn::Linear> head_;
};

/// Elements of one sample. \throws Error (kConfig) when an axis other than the batch's is unknown.
int64_t features_of(const FieldSpec& field) {
  int64_t features = 1;
  for (std::size_t axis = 1; axis < field.shape.size(); ++axis) {
    if (!field.shape[axis].fixed()) {
      throw Error(ErrorCode::kConfig, "\"" + field.name + "\" is " + to_string(field) +
                                          ", but a linear layer needs a fixed size on every axis after the batch");
    }
    features *= field.shape[axis].size;
  }
  return features;
}

}  // namespace

class Mlp final : public Model {
 public:
  explicit Mlp(MlpParams params) : params_(std::move(params)) {
    if (params_.classes && params_.size) {
      throw Error(ErrorCode::kConfig, "\"classes\" and \"size\" both give the size of the output: remove one", "/size");
    }
    if (!params_.classes && !params_.size) {
      throw Error(ErrorCode::kConfig, "the output has no size: give \"classes\", or \"size\" where it stands for none",
                  "/classes");
    }
  }

  static Ports ports() {
    return {{Port::of("$input", {Dtype::kFloat32}, {"N", "*"})},
            {Port::of("$output", {Dtype::kFloat32}, {"N", "$classes"})}};
  }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }

  void build(const Spec& in) override {
    const int64_t features = features_of(in[static_cast<std::size_t>(index_of(in, params_.input))]);
    net_ = std::make_unique<Net>(params_, features, params_.classes ? *params_.classes : *params_.size);
  }

  [[nodiscard]] nn::Module& root() override { return *net_; }

 private:
  MlpParams params_;
  std::unique_ptr<Net> net_;
};

TENON_COMPONENT(Mlp, MlpParams, "mlp",
                "Fully connected layers with ReLU and dropout over a flattened input of any shape")

}  // namespace tenon::models
