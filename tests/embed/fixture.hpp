// A small table, a pipeline over it, and the program `tenon` beside this one.
#pragma once

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tenon/kernel.hpp>

namespace tenon::kernel {

/// Two numbers scaled by what training saw of them, dropout, a stream of its own for new rows.
inline constexpr const char* kPipeline = R"({
  "format": 1,
  "name": "points",
  "run": { "seed": 5, "device": "cpu", "threads": 1 },
  "nodes": {
    "table": { "use": "dataset:csv", "with": { "path": "points.csv", "fields": [
      { "name": "point", "columns": ["x", "y"] }, { "name": "label", "type": "integer" } ] } },
    "fresh": { "use": "dataset:csv", "with": { "path": "points.csv", "fields": [
      { "name": "point", "columns": ["x", "y"] } ] } },
    "scale": { "use": "transform:standardize", "in": "table", "with": { "fields": ["point"] } },
    "fresh_scale": { "call": "scale", "in": "fresh" },
    "val_scale": { "call": "scale", "in": "table" },
    "train": { "use": "loader:threads", "in": "scale", "with": { "batch": 32, "shuffle": true, "workers": 1 } },
    "val": { "use": "loader:threads", "in": "val_scale", "with": { "batch": 100, "workers": 0 } },
    "new": { "use": "loader:threads", "in": "fresh_scale", "with": { "batch": 7, "workers": 2 } },
    "net": { "use": "model:mlp", "in": { "x": "batch.point" },
             "with": { "classes": 2, "hidden": [8], "input": "x", "dropout": 0.1 } },
    "loss": { "use": "loss:cross_entropy", "in": { "logits": "net.logits", "target": "batch.label" } },
    "acc": { "use": "metric:accuracy", "in": { "logits": "net.logits", "target": "batch.label" } },
    "opt": { "use": "optimizer:adamw", "of": "net", "with": { "lr": 0.01 } }
  },
  "fit": { "data": "train", "loss": "loss", "epochs": 2 },
  "validate": { "data": "val", "metrics": ["acc"] },
  "checkpoint": { "every": "100 epochs", "keep": { "last": 2 } },
  "predict": { "data": "new", "outputs": {
    "logits": "net.logits", "share": { "from": "net.logits", "as": "softmax" },
    "class": { "from": "net.logits", "as": "argmax" } } }
})";

inline constexpr int kRows = 300;

class EmbedTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(TENON_BUILD_DIR) / "tests" / "embed-runs" /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::ofstream table(folder_ / "points.csv");
    table << "x,y,label\n";
    for (int i = 0; i < kRows; ++i) {
      // Exact in float32 and in the text.
      const double x = static_cast<double>(i * 37 % 101) / 4 - 12;
      const double y = static_cast<double>(i * 53 % 89) / 8 - 5;
      table << x << ',' << y << ',' << (x + y > 0 ? 1 : 0) << '\n';
      points_.push_back(static_cast<float>(x));
      points_.push_back(static_cast<float>(y));
    }
    std::ofstream(pipeline_file()) << kPipeline;
  }

  [[nodiscard]] std::filesystem::path pipeline_file() const { return folder_ / "points.json"; }

  /// Run directories in a folder of that name.
  [[nodiscard]] PipelineOptions into(const std::string& runs, std::vector<std::string> sets = {}) const {
    return {.sets = std::move(sets), .runs = folder_ / runs};
  }

  /// The exit code of `tenon`; what it says goes to a file.
  [[nodiscard]] int tenon(const std::string& arguments) const {
    const std::string command = "cd '" + folder_.string() + "' && '" + TENON_BUILD_DIR + "/bin/tenon' " + arguments +
                                " > tenon.out 2> tenon.err < /dev/null";
    const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): the build's own program
    return WEXITSTATUS(status);
  }

  static std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// The files of a checkpoint by name.
  static std::map<std::string, std::string> bytes_of(const std::filesystem::path& checkpoint) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(checkpoint)) {
      files[entry.path().filename().string()] = text_of(entry.path());
    }
    return files;
  }

  std::filesystem::path folder_;
  std::vector<float> points_;  ///< The table's x and y, row by row.
};

inline const Spec kPointField{{"point", Dtype::kFloat32, {2}}};

/// The error that `action` throws.
template <class Action>
Error error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorCode::kConfig, "nothing was thrown", {}};
}

}  // namespace tenon::kernel
