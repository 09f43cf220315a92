// A folder of pipeline files for one test, and what resolving them gives.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <core/resolve/resolve.hpp>

namespace tenon::core {

/// The current directory of the process is a fresh folder while it lives.
class Scratch {
 public:
  Scratch() : before_(std::filesystem::current_path()) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(test->test_suite_name()) + "." + test->name() + "." + std::to_string(::getpid());
    for (char& c : name) c = c == '/' ? '_' : c;
    folder_ = std::filesystem::temp_directory_path() / fmt::format("tenon.{}", name);
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    std::filesystem::current_path(folder_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

  void write(const std::filesystem::path& path, const std::string& text) const {
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }

 private:
  std::filesystem::path before_;
  std::filesystem::path folder_;
};

struct Outcome {
  Resolved resolved;
  Diagnostics diagnostics;

  /// "code place pointer" of every finding in order of place.
  [[nodiscard]] std::vector<std::string> found() const {
    std::vector<std::string> out;
    for (const Diagnostic& each : diagnostics.all()) {
      const std::string place = each.span.describe();
      out.push_back(fmt::format("{}{}{}{}{}", each.code, place.empty() ? "" : " ", place,
                                each.pointer.empty() ? "" : " ", each.pointer));
    }
    return out;
  }

  [[nodiscard]] Json at(const char* pointer) const {
    const Json* value = resolved.find(pointer);
    return value == nullptr ? Json(Json::value_t::discarded) : *value;
  }
};

inline Outcome resolve_all(const ResolveRequest& request) {
  Outcome outcome;
  outcome.resolved = resolve(request, outcome.diagnostics);
  outcome.diagnostics.sort();
  return outcome;
}

inline Outcome resolve_text(const std::string& text, std::vector<std::string> sets = {}) {
  ResolveRequest request;
  request.pipeline = "pipe.json";
  request.text = text;
  request.sets = std::move(sets);
  return resolve_all(request);
}

/// A small pipeline that is right, on lines of its own.
inline const std::string kSmall = R"({
  "format": 1,
  "name": "small",
  "vars": { "lr": 0.1, "epochs": 3 },
  "nodes": {
    "data": { "use": "dataset:digits", "with": { "split": "train" } },
    "load": { "use": "loader:threads", "in": "data", "with": { "batch": 64 } },
    "net":  { "use": "model:cnn", "in": { "image": "batch.image" } },
    "loss": { "use": "loss:cross_entropy", "in": { "logits": "net.logits", "target": "batch.label" } },
    "opt":  { "use": "optimizer:adamw", "of": "net", "with": { "lr": "${vars.lr}" },
              "groups": [ { "match": "*.bias", "with": { "weight_decay": 0 } } ] }
  },
  "fit": { "data": "load", "loss": "loss", "epochs": "${vars.epochs}" }
}
)";

using Found = std::vector<std::string>;

}  // namespace tenon::core
