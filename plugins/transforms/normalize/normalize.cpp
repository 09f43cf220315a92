// transform:normalize: takes the mean off each channel and divides it by its standard deviation.
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <tenon/components/fitted.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace tenon::transforms {

struct NormalizeParams {
  std::string field = "image";
  std::vector<double> mean;
  std::vector<double> std;

  TENON_PARAMS(NormalizeParams,
               tenon::field(&NormalizeParams::field, "field", "Field that is normalised: float32, channels first"),
               tenon::field(&NormalizeParams::mean, "mean",
                            "Mean of each channel in the field's unit, or one for all of them")
                   .min_items(1)
                   .required(),
               tenon::field(&NormalizeParams::std, "std",
                            "Standard deviation of each channel in the field's unit, or one for all of them")
                   .above(0)
                   .min_items(1)
                   .required())
};

/// (x − mean) / std for each channel of [C, …]: both parameters rounded to float32 first, then a subtraction and a
/// division in float32.
class Normalize final : public Transform, public Rescaled {
 public:
  explicit Normalize(const NormalizeParams& params)
      : field_(params.field), mean_(rounded(params.mean, "/mean")), std_(rounded(params.std, "/std")) {
    if (mean_.size() != std_.size() && mean_.size() != 1 && std_.size() != 1) {
      throw Error(ErrorCode::kConfig,
                  "mean has " + std::to_string(mean_.size()) + " elements and std " + std::to_string(std_.size()) +
                      ": give one for each channel, or one for all",
                  "/std");
    }
  }

  static Ports ports() {
    return {{Port::any("$field", {Dtype::kFloat32})}, {Port::pass_all(), Port::same("$field", {Dtype::kFloat32})}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() { return {kAbility}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<Rescaled*>(this) : nullptr;
  }

  [[nodiscard]] Spec spec(const Spec& in) const override {
    const FieldSpec& field = in[static_cast<std::size_t>(index_of(in, field_))];
    if (field.dtype != Dtype::kFloat32) {
      throw Error(ErrorCode::kConfig, "\"" + field.name + "\" is " + to_string(field) +
                                          ", but only float32 is normalised: put a transform:to_float before");
    }
    if (field.shape.empty()) {
      require_channels(1, ErrorCode::kConfig);
    } else if (field.shape.front().fixed()) {
      require_channels(field.shape.front().size, ErrorCode::kConfig);
    }
    return in;
  }

  void apply(Sample& sample, Rng& /*random*/, const When& /*when*/) const override {
    const Array in = sample.at(field_);
    const Array out = sample.allocate(field_, Dtype::kFloat32, in.shape);
    const int64_t channels = in.shape.empty() ? 1 : in.shape.front();
    require_channels(channels, ErrorCode::kData);
    if (in.elements() == 0) return;
    const std::span<const float> from = in.as<float>();
    const std::span<float> to = out.as<float>();
    const std::size_t plane = from.size() / static_cast<std::size_t>(channels);
    for (std::size_t channel = 0; channel < static_cast<std::size_t>(channels); ++channel) {
      const float mean = mean_.size() == 1 ? mean_.front() : mean_[channel];
      const float deviation = std_.size() == 1 ? std_.front() : std_[channel];
      for (std::size_t i = channel * plane; i < (channel + 1) * plane; ++i) to[i] = (from[i] - mean) / deviation;
    }
  }

  [[nodiscard]] std::optional<Rescaling> rescaling(std::string_view field) const override {
    if (field != field_) return std::nullopt;
    return Rescaling{{std_.begin(), std_.end()}, {mean_.begin(), mean_.end()}, 0};
  }

 private:
  /// As float32. \throws Error (kConfig) where that makes a number infinite or a standard deviation zero.
  static std::vector<float> rounded(const std::vector<double>& numbers, const std::string& pointer) {
    std::vector<float> all;
    for (const double number : numbers) {
      all.push_back(static_cast<float>(number));
      if (std::isfinite(all.back()) && (pointer != "/std" || all.back() > 0)) continue;
      throw Error(ErrorCode::kConfig, "element " + std::to_string(all.size() - 1) + " is out of the range of float32",
                  pointer + "/" + std::to_string(all.size() - 1));
    }
    return all;
  }

  void require_channels(int64_t channels, ErrorCode code) const {
    for (const auto& [list, name] : {std::pair{&mean_, "mean"}, std::pair{&std_, "std"}}) {
      if (list->size() == 1 || static_cast<int64_t>(list->size()) == channels) continue;
      throw Error(code,
                  std::string(name) + " has " + std::to_string(list->size()) + " elements, but \"" + field_ +
                      "\" has " + std::to_string(channels) + (channels == 1 ? " channel" : " channels") +
                      ": give one for each, or one for all",
                  std::string("/") + name);
    }
  }

  std::string field_;
  std::vector<float> mean_;
  std::vector<float> std_;
};

TENON_COMPONENT(Normalize, NormalizeParams, "normalize",
                "Takes the mean off each channel and divides it by its standard deviation, in float32")

}  // namespace tenon::transforms
