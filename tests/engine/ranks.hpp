// Pipelines whose batches are cut over ranks and micro-batches, and what must not change by that.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <core/storage/canonical_json.hpp>
#include <engine/engine.hpp>
#include <engine/tables.hpp>
#include <engine/tensor_files.hpp>

namespace tenon::engine {

inline constexpr double kBound = 1e-12;

/// With so many ranks, each a thread.
inline std::vector<std::string> on_ranks(int64_t ranks, std::vector<std::string> sets = {}) {
  if (ranks > 1) {
    sets.push_back(R"(+nodes.ranks={"use":"distributed:threads","with":{"ranks":)" + std::to_string(ranks) + "}}");
    sets.emplace_back(R"(run.distributed="ranks")");
  }
  return sets;
}

/// How a batch of 54 samples is cut: over ranks, and over micro-batches. 1,077 samples leave a last window of 51.
struct Cut {
  int64_t ranks;
  int64_t accumulate;
};

/// In float64 and without dropout; the class weights make the weights of micro-batches uneven, and clipping acts.
inline std::vector<std::string> settings(Cut cut) {
  return on_ranks(cut.ranks, {
                                 R"(+nodes.prec={"use":"precision:fp64"})",
                                 R"(+fit.precision="prec")",
                                 R"(nodes.net.with.dropout=0)",
                                 R"(nodes.opt={"use":"optimizer:recording","of":"net","with":{"lr":0.05}})",
                                 R"(nodes.loss.with={"class_weights":[1,2,3,4,5,6,7,8,9,0.5],"label_smoothing":0.1})",
                                 R"(+fit.clip={"norm":0.1})",
                                 R"(checkpoint.keep={"last":100})",
                                 R"(checkpoint.every="10 steps")",
                                 "nodes.train.with.batch=" + std::to_string(54 / cut.accumulate),
                                 "fit.accumulate=" + std::to_string(cut.accumulate),
                             });
}

/// Weighted regression, whose metrics are sums of fractions. 100 samples in batches of 24 leave a last one of 4.
inline constexpr const char* kRegression = R"({
  "format": 1,
  "name": "regression",
  "run": { "seed": 5, "device": "cpu", "threads": 1 },
  "nodes": {
    "train_set": { "use": "dataset:synthetic", "with": { "task": "regression", "size": 100, "weights": true } },
    "val_set": { "use": "dataset:synthetic", "with": { "task": "regression", "size": 77, "split": "val" } },
    "train": { "use": "loader:threads", "in": "train_set", "with": { "batch": 24, "shuffle": true, "workers": 1 } },
    "val": { "use": "loader:threads", "in": "val_set", "with": { "batch": 10, "workers": 0 } },
    "net": { "use": "model:mlp", "in": { "x": "batch.x" }, "with": { "input": "x", "classes": 1, "hidden": [8] } },
    "loss": { "use": "loss:mse", "in": { "prediction": "net.logits", "target": "batch.y", "weight": "batch.weight" } },
    "error": { "use": "metric:mean_error", "in": { "prediction": "net.logits", "target": "batch.y" } },
    "opt": { "use": "optimizer:recording", "of": "net", "with": { "lr": 0.05 } },
    "prec": { "use": "precision:fp64" }
  },
  "fit": { "data": "train", "loss": "loss", "precision": "prec", "epochs": 4 },
  "validate": { "data": "val", "metrics": ["error"], "every": "1 epoch" },
  "checkpoint": { "every": "1 epoch", "keep": { "last": 100 } },
  "observe": []
})";

/// The greatest difference of two safetensors files, none of whose tensors is 0.
inline double difference(const std::filesystem::path& a, const std::filesystem::path& b) {
  for (const auto& [name, tensor] : read_tensors(a)) EXPECT_GT(tensor.abs().max().item<double>(), 0) << name;
  return file_difference(a, b);
}

/// Every number of the log by step and key, wall-clock values left out.
inline std::map<std::string, double> logged(const RunOutcome& outcome) {
  std::map<std::string, double> values;
  std::ifstream log(outcome.directory / "log.jsonl");
  for (std::string line; std::getline(log, line);) {
    const core::Json json = core::Json::parse(line);
    if (!json.contains("values")) continue;
    for (const auto& [key, value] : json["values"].items()) {
      const bool measured = key == "train.waiting" || key == "train.copy" || key == "train.compute";
      if (measured || key.starts_with("train.loader.")) continue;
      values[json["event"].get<std::string>() + " " + std::to_string(json["step"].get<int64_t>()) + " " + key] =
          core::number_of(value);
    }
  }
  return values;
}

}  // namespace tenon::engine
