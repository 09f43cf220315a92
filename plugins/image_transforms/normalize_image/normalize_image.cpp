// transform:normalize_image: values with channels last become float32 with channels first, normalised, in one pass.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <support/joint.hpp>
#include <support/kernels.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct NormalizeImageParams {
  std::string image = "image";
  std::vector<double> mean{0};
  std::vector<double> std{1};

  TENON_PARAMS(
      NormalizeImageParams,
      tenon::field(&NormalizeImageParams::image, "image",
                   "Image that is converted: uint8 [H, W, C], divided by 255, or int32 of 16 bits, divided by 65535"),
      tenon::field(&NormalizeImageParams::mean, "mean",
                   "Mean of each channel where white is 1, whatever the image's bits, or one for all of them")
          .min_items(1),
      tenon::field(&NormalizeImageParams::std, "std",
                   "Standard deviation of each channel where white is 1, or one for all of them")
          .above(0)
          .min_items(1))
};

/// (x / white − mean) / std, where white is 255 in images of 8 bits (uint8) and 65535 in those of 16 (int32), as
/// x · scale + bias, with scale = 1 / (white · std) and bias = −mean / std rounded to float32 once, and a product and a
/// sum in float32: within 4 units in the last place of the larger of the two terms.
class NormalizeImage final : public Transform, public Rescaled {
 public:
  explicit NormalizeImage(NormalizeImageParams params) : params_(std::move(params)) {
    const std::size_t channels = std::max(params_.mean.size(), params_.std.size());
    for (const auto& [list, pointer] : {std::pair{&params_.mean, "/mean"}, std::pair{&params_.std, "/std"}}) {
      if (list->size() != 1 && list->size() != channels) {
        throw Error(ErrorCode::kConfig,
                    "mean has " + std::to_string(params_.mean.size()) + " elements and std " +
                        std::to_string(params_.std.size()) + ": give one for each channel, or one for all",
                    pointer);
      }
      if (list->size() > kMostChannels) throw Error(ErrorCode::kConfig, "an image has at most 4 channels", pointer);
    }
    for (std::size_t c = 0; c < kMostChannels; ++c) {
      const double mean = of(params_.mean, c);
      const double deviation = of(params_.std, c);
      scale_[c] = static_cast<float>(1 / (kWhite8 * deviation));
      scale_16_[c] = static_cast<float>(1 / (kWhite16 * deviation));
      bias_[c] = static_cast<float>(-mean / deviation);
      const bool scales = std::isfinite(scale_[c]) && scale_16_[c] != 0;
      if (!scales || !std::isfinite(bias_[c])) {
        throw Error(ErrorCode::kConfig, "results are out of the range of float32 with these numbers",
                    scales ? "/mean" : "/std");
      }
    }
  }

  static Ports ports() {
    return {{Port::of("$image", dtypes_of(Depths::k8And16), {"H", "W", "C"})},
            {Port::pass_all(), Port::of("$image", {Dtype::kFloat32}, {"C", "H", "W"})}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() { return {kAbility}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<Rescaled*>(this) : nullptr;
  }

  [[nodiscard]] Spec spec(const Spec& in) const override {
    const FieldSpec& image = require_image(in, params_.image, Depths::k8And16);
    const Dim& channels = image.shape[2];
    if (channels.fixed()) require_channels(channels.size, ErrorCode::kConfig);
    whites_.insert(image.dtype == Dtype::kInt32 ? kWhite16 : kWhite8);
    Spec out = in;
    FieldSpec& field = out[static_cast<std::size_t>(index_of(in, params_.image))];
    field = {field.name, Dtype::kFloat32, {channels, image.shape[0], image.shape[1]}};
    return out;
  }

  void apply(Sample& sample, Rng& /*random*/, const When& /*when*/) const override {
    with_image(sample.at(params_.image), params_.image, [&](const auto& in) {
      require_channels(in.channels, ErrorCode::kData);
      const std::array<int64_t, 3> shape{in.channels, in.height, in.width};
      normalize(in, static_cast<float*>(sample.allocate(params_.image, Dtype::kFloat32, shape).data));
    });
  }

  /// Back to the values of the image: white is 255 or 65535. \throws Error (kConfig) where it is now one, now the other.
  [[nodiscard]] std::optional<Rescaling> rescaling(std::string_view field) const override {
    if (field != params_.image) return std::nullopt;
    if (whites_.size() > 1) {
      throw Error(
          ErrorCode::kConfig,
          "\"" + params_.image + "\" is of 8 bits in one stream and of 16 in another: have a normalize_image for each",
          "/image");
    }
    const double white = whites_.empty() ? kWhite8 : *whites_.begin();
    Rescaling rescaling;
    rescaling.axis = 0;
    for (std::size_t c = 0; c < std::max(params_.mean.size(), params_.std.size()); ++c) {
      rescaling.scale.push_back(white * of(params_.std, c));
      rescaling.offset.push_back(white * of(params_.mean, c));
    }
    return rescaling;
  }

 private:
  void normalize(const View& in, float* out) const {
    const int64_t pixels = in.height * in.width;
    kernels().normalize_planes(in.data, pixels, in.channels, scale_.data(), bias_.data(), out, pixels);
  }

  void normalize(const View16& in, float* out) const {
    const int64_t pixels = in.height * in.width;
    for (int64_t c = 0; c < in.channels; ++c) {
      const float scale = scale_16_[static_cast<std::size_t>(c)];
      const float bias = bias_[static_cast<std::size_t>(c)];
      for (int64_t i = 0; i < pixels; ++i) *out++ = static_cast<float>(in.data[i * in.channels + c]) * scale + bias;
    }
  }

  static constexpr std::size_t kMostChannels = 4;

  /// The element of a channel; the last one there is stands for those behind.
  static double of(const std::vector<double>& list, std::size_t channel) {
    return list[std::min(channel, list.size() - 1)];
  }

  void require_channels(int64_t channels, ErrorCode code) const {
    for (const auto& [list, name] : {std::pair{&params_.mean, "mean"}, std::pair{&params_.std, "std"}}) {
      if (list->size() == 1 || static_cast<int64_t>(list->size()) == channels) continue;
      throw Error(code,
                  std::string(name) + " has " + std::to_string(list->size()) + " elements, but \"" + params_.image +
                      "\" has " + std::to_string(channels) + (channels == 1 ? " channel" : " channels") +
                      ": give one for each, or one for all",
                  std::string("/") + name);
    }
  }

  NormalizeImageParams params_;
  std::array<float, kMostChannels> scale_{};
  std::array<float, kMostChannels> scale_16_{};
  std::array<float, kMostChannels> bias_{};
  mutable std::set<int32_t> whites_;  ///< Of the images that spec() was asked about: more than one where it is called.
};

TENON_COMPONENT(
    NormalizeImage, NormalizeImageParams, "normalize_image",
    "Makes float32 of an image's values, takes the mean off each channel and divides it by its standard deviation")

}  // namespace tenon::image_transforms
