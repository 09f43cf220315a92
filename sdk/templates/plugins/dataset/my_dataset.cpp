// dataset:my_dataset: samples from a text file, one a line: its class, then its features.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <tenon/components/dataset.hpp>
#include <tenon/example.hpp>
#include <tenon/random.hpp>
#include <tenon/registration.hpp>

namespace {

// Declared once: reading, defaults, bounds, messages and the page of `tenon plugins show` follow from it.
struct MyDatasetParams {
  std::filesystem::path path;
  int64_t features = 2;

  TENON_PARAMS(MyDatasetParams,
               tenon::field(&MyDatasetParams::path, "path",
                            "Text file, one sample a line: its class, then its features")
                   .required(),
               tenon::field(&MyDatasetParams::features, "features", "Number of features of a sample").min(1))
};

class MyDataset final : public tenon::Dataset {
 public:
  explicit MyDataset(const MyDatasetParams& params) : params_(params) {}

  // Pipelines are checked against these rules before any code of the plugin runs. "$features" is the parameter's value.
  static tenon::Ports ports() {
    return {.in = {},
            .out = {tenon::Port::of("x", {tenon::Dtype::kFloat32}, {"$features"}),
                    tenon::Port::of("label", {tenon::Dtype::kInt64}, {})}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  // A file for `tenon plugins check`, which could not make up one.
  static tenon::Example example() {
    return {.params = R"({"path": "points.txt"})",
            .files = {{"points.txt", "0 0.5 1.5\n1 -2 0.25\n0 0.75 1\n2 3 3.5\n"}},
            .inputs = {}};
  }

  // From the parameters alone: the file may not be there yet.
  [[nodiscard]] tenon::Spec spec() const override {
    return {{"x", tenon::Dtype::kFloat32, {params_.features}}, {"label", tenon::Dtype::kInt64, {}}};
  }

  void open(std::span<tenon::Dataset* const> inputs) override {
    if (!inputs.empty()) throw tenon::Error(tenon::ErrorCode::kConfig, "reads a file: remove \"in\" from its node");
    std::ifstream file(params_.path);
    if (!file) {
      throw tenon::Error(tenon::ErrorCode::kData, params_.path.string() + " cannot be read: is the path right?",
                         "/path");
    }
    std::string line;
    std::string all;
    for (int64_t number = 1; std::getline(file, line); ++number) {
      all += line + '\n';
      if (!line.empty()) add(line, number);
    }
    if (labels_.empty())
      throw tenon::Error(tenon::ErrorCode::kData, params_.path.string() + " holds no sample", "/path");
    fingerprint_ = "my_dataset-1:" + std::to_string(params_.features) + ":" + std::to_string(tenon::name_key(all));
  }

  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(labels_.size()); }
  [[nodiscard]] std::string fingerprint() const override { return fingerprint_; }

  // Many threads call this at once: it only reads members.
  void read(int64_t index, tenon::Sample& out) const override {
    const std::array<int64_t, 1> shape{params_.features};
    const std::span<float> x = out.allocate("x", tenon::Dtype::kFloat32, shape).as<float>();
    std::copy_n(features_.begin() + index * params_.features, params_.features, x.begin());
    out.allocate("label", tenon::Dtype::kInt64, {}).as<int64_t>()[0] = labels_[static_cast<std::size_t>(index)];
  }

 private:
  void add(const std::string& line, int64_t number) {
    std::istringstream words(line);
    int64_t label = -1;
    std::vector<float> row(static_cast<std::size_t>(params_.features));
    words >> label;
    for (float& feature : row) words >> feature;
    if (words.fail() || label < 0 || !(words >> std::ws).eof()) {
      throw tenon::Error(tenon::ErrorCode::kData, params_.path.string() + ":" + std::to_string(number) +
                                                      ": expected a class (0 or more) and " +
                                                      std::to_string(params_.features) + " numbers");
    }
    labels_.push_back(label);
    features_.insert(features_.end(), row.begin(), row.end());
  }

  MyDatasetParams params_;
  std::vector<int64_t> labels_;
  std::vector<float> features_;  // [size, features]
  std::string fingerprint_;
};

}  // namespace

TENON_COMPONENT(MyDataset, MyDatasetParams, "my_dataset", "Samples from a text file: a class and its features a line")
