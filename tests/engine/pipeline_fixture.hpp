// Runs whole pipelines in this process, over the plugins of this build.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <core/graph/build.hpp>
#include <core/resolve/resolve.hpp>
#include <core/text/render.hpp>
#include <engine/engine.hpp>
#include <engine/session.hpp>

namespace tenon::engine {

/// A small pipeline on digits: a perceptron, a few steps, no observers worth mentioning. Tests change it by --set.
inline constexpr const char* kSmallPipeline = R"({
  "format": 1,
  "name": "small",
  "run": { "seed": 3, "device": "cpu", "threads": 1 },
  "nodes": {
    "train_set": { "use": "dataset:digits", "with": { "split": "train" } },
    "val_set": { "use": "dataset:digits", "with": { "split": "val" } },
    "shift": { "use": "transform:random_shift", "in": "train_set", "with": { "pixels": 1 } },
    "train_x": { "use": "transform:to_float", "in": "shift", "with": { "max": 16 } },
    "val_x": { "use": "transform:to_float", "in": "val_set", "with": { "max": 16 } },
    "train": { "use": "loader:threads", "in": "train_x", "with": { "batch": 64, "shuffle": true, "workers": 1 } },
    "val": { "use": "loader:threads", "in": "val_x", "with": { "batch": 256, "workers": 0 } },
    "net": { "use": "model:mlp", "in": { "image": "batch.image" }, "with": { "classes": 10, "hidden": [16], "dropout": 0.1 } },
    "loss": { "use": "loss:cross_entropy", "in": { "logits": "net.logits", "target": "batch.label" } },
    "acc": { "use": "metric:accuracy", "in": { "logits": "net.logits", "target": "batch.label" } },
    "opt": { "use": "optimizer:adamw", "of": "net", "with": { "lr": 0.01 } },
    "script": { "use": "exporter:torchscript", "of": "net" }
  },
  "fit": { "data": "train", "loss": "loss", "epochs": 2 },
  "validate": { "data": "val", "metrics": ["acc"], "every": "1 epoch" },
  "checkpoint": { "every": "1 epoch", "keep": { "last": 2 } },
  "observe": []
})";

class PipelineTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(TENON_BUILD_DIR) / "tests" / "runs" /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    runs_ = folder_;
  }

  /// Runs `text` with changes; fails the test on a finding of `check`, throws what the engine throws.
  RunOutcome run(const std::string& text, std::vector<std::string> sets = {}) {
    return run_session(request(text, std::move(sets)));
  }

  /// What a run of `text` with changes needs.
  RunRequest request(const std::string& text, std::vector<std::string> sets = {}) {
    sets.push_back("run.dir=\"" + runs_.string() + "\"");
    core::ResolveRequest wanted;
    wanted.pipeline = folder_ / "small.json";
    wanted.text = text;
    wanted.sets = std::move(sets);
    core::Diagnostics found;
    const core::Resolved resolved = core::resolve(wanted, found);
    const std::filesystem::path build(TENON_BUILD_DIR);
    const core::Catalogue catalogue =
        core::Catalogue::scan(core::SearchPath::of({build / "lib/tenon/plugins", build / "tests/plugins"}));
    core::GraphResult built = core::build_graph(resolved, catalogue, found);
    found.append(built.diagnostics);
    if (found.has_errors() || !built.graph) {
      ADD_FAILURE() << core::render_text(found, {});
      throw Error(ErrorCode::kConfig, "the pipeline of the test is wrong");
    }
    core::Libtorch libtorch;
    libtorch.version = TENON_LIBTORCH_VERSION;
    return {.graph = *std::move(built.graph),
            .resolved = std::move(built.resolved),
            .catalogue = catalogue,
            .libtorch = libtorch,
            .environment = {},
            .program = build / "bin" / "tenon",
            .resume = {},
            .accepted = {},
            .begin_anew = {},
            .interruption = nullptr,
            .interrupt_at = {},
            .preflight = false};  // a test of its own shows that runs are the same without
  }

  /// Likewise, going on with the newest run of that name.
  RunRequest resumed(const std::string& text, std::vector<std::string> sets = {}) {
    RunRequest request = this->request(text, std::move(sets));
    request.resume = std::make_shared<core::ResumePoint>(
        core::find_resume_point(runs_, request.graph.name, {core::ResumeMode::kMust, {}}).value());
    return request;
  }

  /// Content of every file below a folder, by relative name.
  static std::map<std::string, std::string> bytes_below(const std::filesystem::path& root) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      files[std::filesystem::relative(entry.path(), root).string()] = {std::istreambuf_iterator<char>(in), {}};
    }
    return files;
  }

  /// The files of all kept checkpoints of a run.
  static std::map<std::string, std::string> checkpoint_bytes(const RunOutcome& outcome) {
    std::map<std::string, std::string> files = bytes_below(outcome.directory / "checkpoints");
    files.erase("index.json");  // holds wall time
    return files;
  }

  std::filesystem::path folder_;  ///< For this test alone, empty when it begins.
  std::filesystem::path runs_;    ///< run.dir; `folder_` unless a test changes it.
};

}  // namespace tenon::engine
