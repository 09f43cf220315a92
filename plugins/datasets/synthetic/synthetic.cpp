// dataset:synthetic: samples made from keyed random numbers, for smoke tests and benchmarks.
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tenon/components/columns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/random.hpp>
#include <tenon/registration.hpp>

namespace tenon::datasets {

enum class SyntheticTask { kClassification, kRegression };
TENON_ENUM(SyntheticTask, "classification", "regression")

enum class SyntheticSplit { kTrain, kVal, kTest };
TENON_ENUM(SyntheticSplit, "train", "val", "test")

struct SyntheticParams {
  SyntheticTask task = SyntheticTask::kClassification;
  SyntheticSplit split = SyntheticSplit::kTrain;
  int64_t size = 1024;
  int64_t seed = 0;
  std::optional<int64_t> features;
  std::vector<int64_t> shape;
  int64_t classes = 10;
  int64_t targets = 1;
  double noise = 0.5;
  bool weights = false;
  std::string field = "x";

  TENON_PARAMS(
      SyntheticParams,
      tenon::field(&SyntheticParams::task, "task",
                   "classification gives the field label, int64; regression gives the field y, float32[targets]"),
      tenon::field(&SyntheticParams::split, "split",
                   "Parts share the centres of classes, or the map from x to y, and hold samples of their own"),
      tenon::field(&SyntheticParams::size, "size", "Number of samples").min(1),
      tenon::field(&SyntheticParams::seed, "seed", "Another seed gives other data").min(0),
      tenon::field(&SyntheticParams::features, "features",
                   "Numbers in x; auto takes as many as shape has, or 16 without one")
          .min(1),
      tenon::field(&SyntheticParams::shape, "shape",
                   "Shape of x, such as [3, 32, 32] for an image; an empty list stands for [features]")
          .min(1),
      tenon::field(&SyntheticParams::classes, "classes", "Number of classes; sample i is of class i modulo classes")
          .min(2),
      tenon::field(&SyntheticParams::targets, "targets", "Numbers in y of a regression").min(1),
      tenon::field(&SyntheticParams::noise, "noise",
                   "Standard deviation of what is added to each number of x (classification) or y (regression); "
                   "centres and x, y have a standard deviation of 1")
          .min(0),
      tenon::field(&SyntheticParams::weights, "weights",
                   "Adds the field weight, float32 in [0.5, 2), for losses that weigh samples"),
      tenon::field(&SyntheticParams::field, "field",
                   "Name of the field x; \"image\" lets it stand in for dataset:digits"))
};

namespace {

constexpr int64_t kLargest = int64_t{1} << 28;  // elements of the table of centres or of the map: 1 GiB

/// A number of mean 0 and standard deviation 1 from one draw: the sum of its four bytes (Irwin and Hall), nearly normal
/// and within ±3.45. Unlike Rng::normal() it asks no libm, and costs a tenth.
double bell(Rng& random) {
  const uint32_t bits = random.bits();
  const uint32_t sum = (bits & 0xFFU) + ((bits >> 8U) & 0xFFU) + ((bits >> 16U) & 0xFFU) + (bits >> 24U);
  constexpr double kDeviation = 147.80054127099805;  // √(4 · (256² − 1) / 12)
  return (static_cast<double>(sum) - 510.0) / kDeviation;
}

/// Rows of numbers of standard deviation 1, each keyed by its own number: more rows leave the others as they are.
std::vector<float> table(uint64_t seed, std::string_view name, int64_t rows, int64_t columns) {
  std::vector<float> numbers;
  numbers.reserve(static_cast<std::size_t>(rows * columns));
  for (int64_t row = 0; row < rows; ++row) {
    Rng random(random_key({seed, name_key(name), static_cast<uint64_t>(row)}));
    for (int64_t column = 0; column < columns; ++column) numbers.push_back(static_cast<float>(bell(random)));
  }
  return numbers;
}

std::string text_of(double number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

}  // namespace

/// Classification: x = centre of the class + noise. Regression: x with a standard deviation of 1, y = W·x/√features +
/// noise. Every number is keyed by (seed, split, index).
class Synthetic final : public Dataset, public Columns {
 public:
  explicit Synthetic(SyntheticParams params) : params_(std::move(params)), features_(count_features()) {
    if (params_.shape.empty()) params_.shape = {features_};
    const int64_t rows = classifies() ? params_.classes : params_.targets;
    if (rows > kLargest / features_) {
      throw Error(ErrorCode::kConfig, std::string(classifies() ? "classes" : "targets") + " times features is " +
                                          std::to_string(rows) + " times " + std::to_string(features_) +
                                          ", more than " + std::to_string(kLargest) + " numbers");
    }
    for (const char* const taken : {classifies() ? "label" : "y", "weight"}) {
      if (params_.field == taken) {
        throw Error(ErrorCode::kConfig, "\"" + params_.field + "\" is the name of another field", "/field");
      }
    }
  }

  static Ports ports() { return {{}, {Port::any("$field", {Dtype::kFloat32}), Port::known_later()}}; }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() { return {Columns::kAbility}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == Columns::kAbility ? static_cast<Columns*>(this) : nullptr;
  }

  [[nodiscard]] Spec spec() const override {
    Spec fields{{params_.field, Dtype::kFloat32, {params_.shape.begin(), params_.shape.end()}}};
    if (classifies()) {
      fields.push_back({"label", Dtype::kInt64, {}});
    } else {
      fields.push_back({"y", Dtype::kFloat32, {params_.targets}});
    }
    if (params_.weights) fields.push_back({"weight", Dtype::kFloat32, {}});
    return fields;
  }

  void open(std::span<Dataset* const> inputs) override {
    if (!inputs.empty()) throw Error(ErrorCode::kConfig, "makes its own samples and takes no input: remove \"in\"");
    const auto seed = static_cast<uint64_t>(params_.seed);
    table_ = classifies() ? table(seed, "centre", params_.classes, features_)
                          : table(seed, "map", params_.targets, features_);
  }

  [[nodiscard]] int64_t size() const override { return params_.size; }

  [[nodiscard]] std::string fingerprint() const override {
    std::string fields;
    for (const FieldSpec& field : spec()) fields += to_string(field) + ":";
    const std::string classes = classifies() ? "classes=" + std::to_string(params_.classes) + ":" : std::string();
    return "synthetic-1:" + fields + split_name() + ":size=" + std::to_string(params_.size) +
           ":seed=" + std::to_string(params_.seed) + ":" + classes + "noise=" + text_of(params_.noise);
  }

  void read(int64_t index, Sample& out) const override {
    Rng random(random_key({static_cast<uint64_t>(params_.seed), name_key(split_name()), static_cast<uint64_t>(index)}));
    const std::span<float> x = out.allocate(0, Dtype::kFloat32, params_.shape).as<float>();
    if (classifies()) {
      const int64_t label = index % params_.classes;
      const std::span<const float> centre = row(label);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(centre[i] + params_.noise * bell(random));
      out.allocate(1, Dtype::kInt64, {}).as<int64_t>()[0] = label;
    } else {
      for (float& number : x) number = static_cast<float>(bell(random));
      const std::array<int64_t, 1> shape{params_.targets};
      const std::span<float> y = out.allocate(1, Dtype::kFloat32, shape).as<float>();
      for (int64_t target = 0; target < params_.targets; ++target) {
        y[static_cast<std::size_t>(target)] = static_cast<float>(mapped(x, row(target)) + params_.noise * bell(random));
      }
    }
    if (params_.weights) {
      // 24 bits: with more, rounding to float32 could reach 2.
      const double part = static_cast<double>(random.bits() >> 8U) * 0x1.0p-24;
      out.allocate(2, Dtype::kFloat32, {}).as<float>()[0] = static_cast<float>(0.5 + 1.5 * part);
    }
  }

  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view field) const override {
    if (!classifies() || field != "label") return std::nullopt;
    std::vector<double> labels(static_cast<std::size_t>(params_.size));
    for (std::size_t i = 0; i < labels.size(); ++i) {
      labels[i] = static_cast<double>(static_cast<int64_t>(i) % params_.classes);
    }
    return labels;
  }

 private:
  [[nodiscard]] bool classifies() const { return params_.task == SyntheticTask::kClassification; }

  [[nodiscard]] const std::string& split_name() const {
    return tenon_enum_names(params_.split).names[static_cast<std::size_t>(params_.split)];
  }

  [[nodiscard]] std::span<const float> row(int64_t number) const {
    return std::span(table_).subspan(static_cast<std::size_t>(number * features_), static_cast<std::size_t>(features_));
  }

  [[nodiscard]] double mapped(std::span<const float> x, std::span<const float> weights) const {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<double>(x[i]) * static_cast<double>(weights[i]);
    return sum / std::sqrt(static_cast<double>(features_));
  }

  [[nodiscard]] int64_t count_features() const {
    constexpr int64_t kDefault = 16;
    if (params_.shape.empty()) return params_.features.value_or(kDefault);
    int64_t count = 1;
    for (const int64_t axis : params_.shape) {
      if (axis > kLargest / count) {
        throw Error(ErrorCode::kConfig, "x would have more than " + std::to_string(kLargest) + " numbers", "/shape");
      }
      count *= axis;
    }
    if (params_.features.value_or(count) != count) {
      throw Error(ErrorCode::kConfig,
                  "features is " + std::to_string(*params_.features) + ", but shape has " + std::to_string(count) +
                      " numbers: give one of the two",
                  "/features");
    }
    return count;
  }

  SyntheticParams params_;
  int64_t features_;
  std::vector<float> table_;  // centres [classes, features] or map [targets, features]
};

TENON_COMPONENT(Synthetic, SyntheticParams, "synthetic",
                "Samples from keyed random numbers: classes around centres, or a linear map with noise")

}  // namespace tenon::datasets
