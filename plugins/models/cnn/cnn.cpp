// model:cnn: three convolutions and a linear layer, for images of any size.
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/model.hpp>
#include <tenon/nn/batch_norm.hpp>
#include <tenon/nn/conv2d.hpp>
#include <tenon/nn/dropout.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/registration.hpp>

namespace tenon::models {

struct CnnParams {
  int64_t classes = 0;
  int64_t width = 48;
  double dropout = 0.1;

  TENON_PARAMS(
      CnnParams, field(&CnnParams::classes, "classes", "Number of classes, the size of the output").min(2).required(),
      field(&CnnParams::width, "width", "Channels of the first convolution; the others have twice as many").min(1),
      field(&CnnParams::dropout, "dropout", "Probability that a feature is dropped before the last layer")
          .min(0)
          .below(1))
};

namespace {

/// Convolution, batch norm, ReLU and, where asked for, a maximum over 2 × 2.
class Block final : public nn::Layer {
 public:
  Block(nn::Module* parent, std::string name, int64_t in, int64_t out, bool pools)
      : Layer(parent, std::move(name)),
        pools_(pools),
        conv_(this, "conv", {.in = in, .out = out, .kernel = 3, .padding = 1, .bias = false}),
        norm_(this, "norm", out) {}

 protected:
  at::Tensor forward(const at::Tensor& in, StepContext& context) override {
    const at::Tensor out = at::relu(norm_(conv_(in, context), context));
    return pools_ ? at::max_pool2d(out, {2, 2}) : out;
  }

 private:
  bool pools_;
  nn::Conv2d conv_;
  nn::BatchNorm norm_;
};

/// Which blocks halve the image: the second and third, as long as at least 2 × 2 is left. An axis of unknown size counts
/// as large.
struct Pooling {
  explicit Pooling(const FieldSpec& image) {
    for (const std::size_t axis : {2, 3}) {
      const Dim& side = image.shape[axis];
      second = second && (!side.fixed() || side.size >= 4);
      third = third && (!side.fixed() || side.size >= 8);
    }
  }

  bool second = true;
  bool third = true;
};

class Net final : public nn::Module {
 public:
  Net(const CnnParams& params, int64_t channels, const Pooling& pooling)
      : block1_(this, "block1", channels, params.width, false),
        block2_(this, "block2", params.width, 2 * params.width, pooling.second),
        block3_(this, "block3", 2 * params.width, 2 * params.width, pooling.third),
        dropout_(this, "dropout", params.dropout),
        head_(this, "head", 2 * params.width, params.classes) {}

 protected:
  Tensors forward(const Tensors& in, StepContext& context) override {
    const at::Tensor maps = block3_(block2_(block1_(in.at("image"), context), context), context);
    return {{"logits", head_(dropout_(maps.mean({2, 3}), context), context)}};
  }

 private:
  Block block1_;
  Block block2_;
  Block block3_;
  nn::Dropout dropout_;
  nn::Linear head_;
};

}  // namespace

class Cnn final : public Model {
 public:
  explicit Cnn(const CnnParams& params) : params_(params) {}

  static Ports ports() {
    return {{Port::of("image", {Dtype::kFloat32}, {"N", "C", "H", "W"})},
            {Port::of("logits", {Dtype::kFloat32}, {"N", "$classes"})}};
  }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }

  void build(const Spec& in) override {
    const FieldSpec& image = in[static_cast<std::size_t>(index_of(in, "image"))];
    if (image.shape.size() != 4 || !image.shape[1].fixed()) {
      throw Error(ErrorCode::kConfig, "\"image\" is " + to_string(image) +
                                          ", but a convolution needs [N, C, H, W] with a fixed number of channels C");
    }
    net_ = std::make_unique<Net>(params_, image.shape[1].size, Pooling(image));
  }

  [[nodiscard]] nn::Module& root() override { return *net_; }

 private:
  CnnParams params_;
  std::unique_ptr<Net> net_;
};

TENON_COMPONENT(Cnn, CnnParams, "cnn",
                "Three 3 × 3 convolutions with batch norm and ReLU, average over the image, dropout, linear layer")

}  // namespace tenon::models
