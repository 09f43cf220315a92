// What differs between two runs: configuration, environment, plugins, and what they came to.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <core/json/json.hpp>
#include <host/console.hpp>
#include <host/value_diff.hpp>

namespace tenon::host {

/// What a run directory says of a run. Of a file that is not there, null.
struct RunRecord {
  std::filesystem::path path;
  core::Json config;       ///< config.resolved.json
  core::Json environment;  ///< environment.json, its variables by name.
  core::Json lock;         ///< lock.json, its plugins by id.
  std::string state;       ///< "running", "finished: done", "not finished"
  /// Last values in the log: "train.loss", "validate.acc", "test.acc", "best validate.acc", and "steps".
  std::map<std::string, double> results;
};

/// \throws Error: kCheckpoint for a JSON file that is damaged, kStorage for one that cannot be read.
[[nodiscard]] RunRecord read_run_record(const std::filesystem::path& run);

/// Borrows both records. Times are not compared, nor is the place of the folder.
class RunDiff {
 public:
  RunDiff(const RunRecord& one, const RunRecord& other);

  [[nodiscard]] bool equal() const;

  /// How much differs, for a closing line: "3 values, 1 result".
  [[nodiscard]] std::string summary() const;

  /// A section for each part that differs, and the results of both side by side.
  [[nodiscard]] std::string text(const Console& console) const;

  /// {"configuration", "environment", "lock"} as lists of {"pointer", "what", "a", "b"}, and "results" by key as {"a", "b"}.
  [[nodiscard]] core::Json json() const;

 private:
  struct Part {
    std::string title;
    std::string key;
    std::string noun;
    std::string file;
    const core::Json* one;
    const core::Json* other;
    std::vector<ValueChange> changes;
  };

  struct Result {
    std::string key;
    const double* one = nullptr;  // null where the run has none
    const double* other = nullptr;

    [[nodiscard]] bool equal() const;
  };

  [[nodiscard]] std::string results_text(const Console& console) const;

  const RunRecord* one_;
  const RunRecord* other_;
  std::vector<Part> parts_;
  std::vector<Result> results_;
};

}  // namespace tenon::host
