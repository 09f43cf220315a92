// transform:standardize: brings fields to mean 0 and standard deviation 1, as the training data has them.
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <support/field_lists.hpp>
#include <support/numbers.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace tenon::transforms {

struct StandardizeParams {
  std::vector<std::string> fields;
  double min_std = 0;

  TENON_PARAMS(
      StandardizeParams,
      tenon::field(&StandardizeParams::fields, "fields",
                   "Fields of numbers; each element along the last axis has a mean and a deviation of its own")
          .min_items(1)
          .required(),
      tenon::field(&StandardizeParams::min_std, "min_std",
                   "Standard deviation up to which an element counts as constant, in the field's unit: only its "
                   "mean is taken off")
          .min(0))
};

namespace {

/// Mean and Σ(x − mean)² of each element along the last axis, over all rows so far (Welford, "Note on a method for
/// calculating corrected sums of squares and products", Technometrics 4, 1962). A constant element has a sum of exactly 0.
struct Moments {
  int64_t rows = 0;
  std::vector<double> mean;
  std::vector<double> squares;

  void add(std::size_t element, double value) {
    const double from_old = value - mean[element];
    mean[element] += from_old / static_cast<double>(rows);
    squares[element] += from_old * (value - mean[element]);
  }
};

struct Scale {
  std::vector<double> mean;
  std::vector<double> std;
};

std::size_t width_of(const Array& array) {
  return array.shape.empty() ? 1 : static_cast<std::size_t>(array.shape.back());
}

void keep(StateIo& io, const std::string& name, std::vector<double>& values) {
  const Shape shape{static_cast<int64_t>(values.size())};
  Array array{values.data(), Dtype::kFloat64, shape};
  io.io(name, array);
  if (io.saving()) return;
  if (array.dtype != Dtype::kFloat64 || array.shape.size() != 1) {
    throw Error(ErrorCode::kCheckpoint, "\"" + name + "\" is no list of float64");
  }
  const std::span<const double> kept = array.as<double>();
  values.assign(kept.begin(), kept.end());
}

}  // namespace

/// (x − mean) / std for each element along the last axis, all in float64 and rounded once to float32. std is that of the
/// training data as a whole, √(Σ(x − mean)² / n), and 1 for an element that is constant there.
class Standardize final : public Transform, public Fitted, public Rescaled {
 public:
  explicit Standardize(StandardizeParams params) : params_(std::move(params)) { require_distinct(params_.fields); }

  static Ports ports() {
    return {{Port::any("$fields", number_types())}, {Port::pass_all(), Port::same("$fields", {Dtype::kFloat32})}};
  }
  static std::vector<std::string> traits() { return {"deterministic", "stateful"}; }
  static std::vector<std::string> abilities() { return {Fitted::kAbility, Rescaled::kAbility}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    const std::string_view wanted = id;
    if (wanted == Fitted::kAbility) return static_cast<Fitted*>(this);
    if (wanted == Rescaled::kAbility) return static_cast<Rescaled*>(this);
    return nullptr;
  }

  [[nodiscard]] Spec spec(const Spec& in) const override {
    Spec out = in;
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      FieldSpec& field = out[static_cast<std::size_t>(index_of(in, params_.fields[i]))];
      const bool fixed = field.shape.empty() || field.shape.back().fixed();
      if (!is_number(field.dtype) || !fixed) {
        throw Error(ErrorCode::kConfig,
                    "\"" + field.name + "\" is " + to_string(field) +
                        (fixed ? ", which is not standardised: take integers, float32 or float64"
                               : ": only a last axis of fixed size is standardised (texts become numbers by "
                                 "transform:encode_categories)"),
                    "/fields/" + std::to_string(i));
      }
      field.dtype = Dtype::kFloat32;
    }
    return out;
  }

  void apply(Sample& sample, Rng& /*random*/, const When& /*when*/) const override {
    require_fitted();
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      const std::string& name = params_.fields[i];
      const Scale& scale = scales_[i];
      const Array in = sample.at(name);
      const Array out = sample.allocate(name, Dtype::kFloat32, in.shape);
      const std::size_t width = width_of(in);
      require_width(name, width, scale.mean.size());
      const std::span<float> to = out.as<float>();
      with_elements(in, [&](const auto& from) {
        for (std::size_t e = 0; e < from.size(); ++e) {
          const double value = finite(name, e, static_cast<double>(from[e]));
          to[e] = static_cast<float>((value - scale.mean[e % width]) / scale.std[e % width]);
          if (std::isfinite(to[e])) continue;
          throw Error(ErrorCode::kData, "element " + std::to_string(e) + " of \"" + name + "\" is " +
                                            std::to_string(value) +
                                            ", too far from the training data to be standardised in float32");
        }
      });
    }
  }

  void begin() override {
    samples_ = 0;
    moments_.assign(params_.fields.size(), {});
    scales_.clear();
  }

  void observe(const Sample& sample) override {
    ++samples_;
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      const std::string& name = params_.fields[i];
      Moments& moments = moments_[i];
      const Array in = sample.at(name);
      const std::size_t width = width_of(in);
      if (moments.mean.empty()) {
        moments.mean.resize(width);
        moments.squares.resize(width);
      }
      require_width(name, width, moments.mean.size());
      with_elements(in, [&](const auto& values) {
        for (std::size_t e = 0; e < values.size(); ++e) {
          if (e % width == 0) ++moments.rows;
          moments.add(e % width, finite(name, e, static_cast<double>(values[e])));
        }
      });
    }
  }

  void finish() override {
    std::vector<Scale> scales;
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      const std::string& name = params_.fields[i];
      Moments& moments = moments_[i];
      if (samples_ < 2 || moments.rows < 2) {
        throw Error(ErrorCode::kData, "\"" + name + "\" has " + std::to_string(moments.rows) + " row(s) of values in " +
                                          std::to_string(samples_) +
                                          " training sample(s), but a standard deviation takes at least 2: give more "
                                          "training data, or use transform:normalize with numbers of your own");
      }
      Scale scale{std::move(moments.mean), {}};
      for (std::size_t e = 0; e < scale.mean.size(); ++e) {
        const double std = std::sqrt(moments.squares[e] / static_cast<double>(moments.rows));
        if (!std::isfinite(std) || !std::isfinite(scale.mean[e])) {
          throw Error(ErrorCode::kData,
                      "the values at element " + std::to_string(e) + " of \"" + name +
                          "\" are too large: their standard deviation is out of the range of float64");
        }
        scale.std.push_back(std > params_.min_std ? std : 1);
      }
      scales.push_back(std::move(scale));
    }
    moments_.clear();
    scales_ = std::move(scales);
  }

  [[nodiscard]] std::optional<Rescaling> rescaling(std::string_view field) const override {
    for (std::size_t i = 0; i < params_.fields.size(); ++i) {
      if (params_.fields[i] != field) continue;
      require_fitted();
      return Rescaling{scales_[i].std, scales_[i].mean};
    }
    return std::nullopt;
  }

  void state(StateIo& io) override {
    bool fitted = !scales_.empty();
    io.io("fitted", fitted);
    std::vector<Scale> scales = io.saving() ? scales_ : std::vector<Scale>(fitted ? params_.fields.size() : 0);
    for (std::size_t i = 0; i < scales.size(); ++i) {
      keep(io, params_.fields[i] + "/mean", scales[i].mean);
      keep(io, params_.fields[i] + "/std", scales[i].std);
      require_usable(params_.fields[i], scales[i]);
    }
    scales_ = std::move(scales);
  }

 private:
  void require_fitted() const {
    if (!scales_.empty()) return;
    throw Error(ErrorCode::kData,
                "no means and deviations are known yet: they are learned from the data of \"fit\", or come from a "
                "checkpoint");
  }

  static void require_usable(const std::string& name, const Scale& scale) {
    bool usable = scale.mean.size() == scale.std.size();
    for (const double mean : scale.mean) usable = usable && std::isfinite(mean);
    for (const double std : scale.std) usable = usable && std::isfinite(std) && std > 0;
    if (usable) return;
    throw Error(ErrorCode::kCheckpoint, "the means and deviations of \"" + name + "\" are damaged");
  }

  static void require_width(const std::string& name, std::size_t width, std::size_t learned) {
    if (width == learned) return;
    throw Error(ErrorCode::kData, "\"" + name + "\" has " + std::to_string(width) +
                                      " element(s) along its last axis, but the training data had " +
                                      std::to_string(learned));
  }

  static double finite(const std::string& name, std::size_t element, double value) {
    if (std::isfinite(value)) return value;
    throw Error(ErrorCode::kData, "element " + std::to_string(element) + " of \"" + name + "\" is " +
                                      std::to_string(value) + ": only finite numbers are standardised");
  }

  StandardizeParams params_;
  int64_t samples_ = 0;           // observed since begin()
  std::vector<Moments> moments_;  // one for each field, while learning
  std::vector<Scale> scales_;     // one for each field, once learned
};

TENON_COMPONENT(Standardize, StandardizeParams, "standardize",
                "Takes off the mean of the training data and divides by its standard deviation, element by element")

}  // namespace tenon::transforms
