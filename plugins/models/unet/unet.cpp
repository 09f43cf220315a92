// model:unet: a small U-Net, which gives logits for each pixel of images of any size.
#include <memory>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <tenon/components/model.hpp>
#include <tenon/nn/batch_norm.hpp>
#include <tenon/nn/conv2d.hpp>
#include <tenon/nn/shape.hpp>
#include <tenon/registration.hpp>

namespace tenon::models {

struct UnetParams {
  int64_t classes = 0;
  int64_t width = 32;
  int64_t depth = 3;

  TENON_PARAMS(
      UnetParams,
      field(&UnetParams::classes, "classes", "Number of classes, the channels of the output").min(1).required(),
      field(&UnetParams::width, "width", "Channels at full size; each halving of the image doubles them").min(1),
      field(&UnetParams::depth, "depth", "How often the image is halved, and doubled again").min(1).max(8))
};

namespace {

/// Twice a 3 × 3 convolution, batch norm and ReLU.
class Block final : public nn::Layer {
 public:
  Block(nn::Module* parent, std::string name, int64_t in, int64_t out)
      : Layer(parent, std::move(name)),
        conv1_(this, "conv1", {.in = in, .out = out, .kernel = 3, .padding = 1, .bias = false}),
        norm1_(this, "norm1", out),
        conv2_(this, "conv2", {.in = out, .out = out, .kernel = 3, .padding = 1, .bias = false}),
        norm2_(this, "norm2", out) {}

 protected:
  at::Tensor forward(const at::Tensor& in, StepContext& context) override {
    const at::Tensor hidden = at::relu(norm1_(conv1_(in, context), context));
    return at::relu(norm2_(conv2_(hidden, context), context));
  }

 private:
  nn::Conv2d conv1_;
  nn::BatchNorm norm1_;
  nn::Conv2d conv2_;
  nn::BatchNorm norm2_;
};

/// Halves, rounding up, so that the last row and column of an odd image count too and one pixel stays one.
at::Tensor halved(const at::Tensor& maps) {
  return at::max_pool2d(maps, {2, 2}, {2, 2}, /*padding=*/0, /*dilation=*/1, /*ceil_mode=*/true);
}

class Net final : public nn::Module {
 public:
  Net(const UnetParams& params, int64_t channels) {
    const auto width = [&](int64_t level) { return params.width << level; };
    for (int64_t level = 0; level <= params.depth; ++level) {
      const int64_t in = level == 0 ? channels : width(level - 1);
      down_.push_back(std::make_unique<Block>(this, "down" + std::to_string(level), in, width(level)));
    }
    for (int64_t level = params.depth - 1; level >= 0; --level) {
      up_.push_back(
          std::make_unique<Block>(this, "up" + std::to_string(level), width(level) + width(level + 1), width(level)));
    }
    head_ = std::make_unique<nn::Conv2d>(this, "head",
                                         nn::Conv2dOptions{.in = params.width, .out = params.classes, .kernel = 1});
  }

 protected:
  Tensors forward(const Tensors& in, StepContext& context) override {
    std::vector<at::Tensor> levels{(*down_[0])(in.at("image"), context)};
    for (std::size_t level = 1; level < down_.size(); ++level) {
      levels.push_back((*down_[level])(halved(levels.back()), context));
    }
    at::Tensor maps = levels.back();
    for (const std::unique_ptr<Block>& up : up_) {
      levels.pop_back();
      const at::Tensor& skip = levels.back();
      const at::Tensor larger = nn::resize_nearest(maps, nn::size_of(skip, 2), nn::size_of(skip, 3));
      maps = (*up)(at::cat({skip, larger}, 1), context);
    }
    return {{"logits", (*head_)(maps, context)}};
  }

 private:
  std::vector<std::unique_ptr<Block>> down_;  // from full size to the smallest
  std::vector<std::unique_ptr<Block>> up_;    // and back
  std::unique_ptr<nn::Conv2d> head_;
};

}  // namespace

/// Ronneberger et al., "U-Net: convolutional networks for biomedical image segmentation" (MICCAI 2015), with padded
/// convolutions, batch norm, and nearest-neighbour doubling in place of transposed convolutions, which leaves no
/// checkerboard and has a deterministic gradient on every device. Where a side is odd, the doubled maps lose their last
/// row or column.
class Unet final : public Model {
 public:
  explicit Unet(const UnetParams& params) : params_(params) {}

  static Ports ports() {
    return {{Port::of("image", {Dtype::kFloat32}, {"N", "C", "H", "W"})},
            {Port::of("logits", {Dtype::kFloat32}, {"N", "$classes", "H", "W"})}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  void build(const Spec& in) override {
    const FieldSpec& image = in[static_cast<std::size_t>(index_of(in, "image"))];
    if (image.shape.size() != 4 || !image.shape[1].fixed()) {
      throw Error(ErrorCode::kConfig, "\"image\" is " + to_string(image) +
                                          ", but a convolution needs [N, C, H, W] with a fixed number of channels C");
    }
    net_ = std::make_unique<Net>(params_, image.shape[1].size);
  }

  [[nodiscard]] nn::Module& root() override { return *net_; }

 private:
  UnetParams params_;
  std::unique_ptr<Net> net_;
};

TENON_COMPONENT(Unet, UnetParams, "unet",
                "U-Net for segmentation: 3 × 3 convolutions with batch norm on halved and doubled maps, with skips")

}  // namespace tenon::models
