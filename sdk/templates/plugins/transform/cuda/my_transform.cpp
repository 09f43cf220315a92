// transform:my_transform: a median filter over images, on a GPU where there is one.
#include <algorithm>
#include <string>
#include <vector>

#include <my_transform_median.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace my_transform_plugin {

void median_on_cpu(const uint8_t* in, uint8_t* out, const Images& size, int64_t radius) {
  std::vector<uint8_t> window;
  for (int64_t channel = 0; channel < size.channels; ++channel) {
    const uint8_t* const image = in + channel * size.height * size.width;
    for (int64_t y = 0; y < size.height; ++y) {
      for (int64_t x = 0; x < size.width; ++x) {
        window.clear();
        for (int64_t row = std::max<int64_t>(y - radius, 0); row <= std::min(y + radius, size.height - 1); ++row) {
          for (int64_t column = std::max<int64_t>(x - radius, 0); column <= std::min(x + radius, size.width - 1);
               ++column) {
            window.push_back(image[row * size.width + column]);
          }
        }
        const auto middle = window.begin() + static_cast<std::ptrdiff_t>(window.size() / 2);
        std::nth_element(window.begin(), middle, window.end());
        *out++ = *middle;
      }
    }
  }
}

namespace {

// Declared once: reading, defaults, bounds, messages and the page of `tenon plugins show` follow from it.
struct MyTransformParams {
  std::string field = "image";
  int64_t radius = 1;

  TENON_PARAMS(MyTransformParams,
               tenon::field(&MyTransformParams::field, "field", "Field that is filtered, of uint8 [C, H, W]"),
               tenon::field(&MyTransformParams::radius, "radius", "Pixels from the centre of the window to its border")
                   .min(0)
                   .max(15))
};

/// Each value becomes the median of the window around it in its channel; at the border, of the part inside the image.
class MyTransform final : public tenon::Transform {
 public:
  explicit MyTransform(const MyTransformParams& params) : params_(params) {}

  // Pipelines are checked against these rules before any code of the plugin runs. "$field" is the parameter's value.
  // The plugin works without a GPU too; one that does not adds the trait "needs_cuda".
  static tenon::Ports ports() {
    return {.in = {tenon::Port::of("$field", {tenon::Dtype::kUint8}, {"C", "H", "W"})},
            .out = {tenon::Port::pass_all(), tenon::Port::same("$field")}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] tenon::Spec spec(const tenon::Spec& in) const override {
    const tenon::FieldSpec& field = in[static_cast<std::size_t>(tenon::index_of(in, params_.field))];
    if (field.dtype != tenon::Dtype::kUint8 || field.shape.size() != 3) {
      throw tenon::Error(tenon::ErrorCode::kConfig,
                         "filters images of uint8 [C, H, W], but \"" + field.name + "\" is " + to_string(field),
                         "/field");
    }
    return in;
  }

  // Many threads call this at once, each with a CUDA stream of its own. A GPU is asked for here and not in the
  // constructor, which may run only to check a pipeline.
  void apply(tenon::Sample& sample, tenon::Rng& /*random*/, const tenon::When& /*when*/) const override {
    const tenon::Array in = sample.at(params_.field);
    const tenon::Array out = sample.allocate(params_.field, in.dtype, in.shape);
    if (in.elements() == 0) return;
    const auto& filter = has_gpu() ? median_on_gpu : median_on_cpu;
    filter(in.as<uint8_t>().data(), out.as<uint8_t>().data(), {in.shape[0], in.shape[1], in.shape[2]}, params_.radius);
  }

 private:
  MyTransformParams params_;
};

}  // namespace

TENON_COMPONENT(MyTransform, MyTransformParams, "my_transform",
                "Median of a window around each pixel, on a GPU where there is one")

}  // namespace my_transform_plugin
