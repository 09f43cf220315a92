// model:my_model: convolutions with residual connections, for images of any size.
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/model.hpp>
#include <tenon/nn/batch_norm.hpp>
#include <tenon/nn/conv2d.hpp>
#include <tenon/nn/init.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/registration.hpp>

namespace {

struct MyModelParams {
  int64_t classes = 0;
  int64_t width = 32;
  int64_t blocks = 2;

  TENON_PARAMS(
      MyModelParams,
      tenon::field(&MyModelParams::classes, "classes", "Number of classes, the size of the output").min(2).required(),
      tenon::field(&MyModelParams::width, "width", "Channels of every convolution").min(1),
      tenon::field(&MyModelParams::blocks, "blocks", "Number of residual blocks").min(0))
};

/// x + scale · relu(norm(conv(x))), with one trained scale a channel.
class MyModelBlock final : public tenon::nn::Layer {
 public:
  MyModelBlock(tenon::nn::Module* parent, std::string name, int64_t width)
      : Layer(parent, std::move(name)),
        conv_(this, "conv", {.in = width, .out = width, .kernel = 3, .padding = 1, .bias = false}),
        norm_(this, "norm", width),
        scale_(this, "scale", {width, 1, 1}, tenon::nn::constant(1)) {}

 protected:
  at::Tensor forward(const at::Tensor& in, tenon::StepContext& context) override {
    return in + scale_.value() * at::relu(norm_(conv_(in, context), context));
  }

 private:
  tenon::nn::Conv2d conv_;
  tenon::nn::BatchNorm norm_;
  tenon::nn::Param scale_;
};

/// The names given here are those of the weights in checkpoints: "stem.weight", "block1.conv.weight", "block1.scale".
class MyModelNetwork final : public tenon::nn::Module {
 public:
  MyModelNetwork(const MyModelParams& params, int64_t channels)
      : stem_(this, "stem", {.in = channels, .out = params.width, .kernel = 3, .padding = 1}) {
    for (int64_t i = 1; i <= params.blocks; ++i) {
      blocks_.push_back(std::make_unique<MyModelBlock>(this, "block" + std::to_string(i), params.width));
    }
    head_ = std::make_unique<tenon::nn::Linear>(this, "head", params.width, params.classes);
  }

 protected:
  tenon::Tensors forward(const tenon::Tensors& in, tenon::StepContext& context) override {
    at::Tensor maps = at::relu(stem_(in.at("image"), context));
    for (const std::unique_ptr<MyModelBlock>& block : blocks_) maps = (*block)(maps, context);
    return {{"logits", (*head_)(maps.mean({2, 3}), context)}};
  }

 private:
  tenon::nn::Conv2d stem_;
  std::vector<std::unique_ptr<MyModelBlock>> blocks_;
  std::unique_ptr<tenon::nn::Linear> head_;
};

class MyModel final : public tenon::Model {
 public:
  explicit MyModel(const MyModelParams& params) : params_(params) {}

  /// One size throughout has one name; "$classes" is the value of that parameter.
  static tenon::Ports ports() {
    return {.in = {tenon::Port::of("image", {tenon::Dtype::kFloat32}, {"N", "C", "H", "W"})},
            .out = {tenon::Port::of("logits", {tenon::Dtype::kFloat32}, {"N", "$classes"})}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  void build(const tenon::Spec& in) override {
    const tenon::FieldSpec& image = in[static_cast<std::size_t>(tenon::index_of(in, "image"))];
    if (image.shape.size() != 4 || !image.shape[1].fixed()) {
      throw tenon::Error(tenon::ErrorCode::kConfig,
                         "\"image\" is " + to_string(image) +
                             ", but a convolution needs [N, C, H, W] with a fixed number of channels C");
    }
    network_ = std::make_unique<MyModelNetwork>(params_, image.shape[1].size);
  }

  [[nodiscard]] tenon::nn::Module& root() override { return *network_; }

 private:
  MyModelParams params_;
  std::unique_ptr<MyModelNetwork> network_;
};

}  // namespace

TENON_COMPONENT(MyModel, MyModelParams, "my_model", "Convolutions with residual connections, for images of any size")
