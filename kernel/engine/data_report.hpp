// What `tenon data check` finds out, as plain values: no libtorch type, no type of the data engine.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <core/graph/graph.hpp>
#include <core/plugin/catalogue.hpp>
#include <core/resolve/resolve.hpp>
#include <core/text/diagnostic.hpp>
#include <tenon/array.hpp>
#include <tenon/spec.hpp>

namespace tenon::engine {

/// What is needed to read all data of a pipeline once. Changes nothing.
struct DataCheckRequest {
  core::Graph graph;
  core::Resolved resolved;
  core::Catalogue catalogue;
  std::vector<std::string> paths;  ///< Names of the streams that are read: "fit", "validate.clean", …
  int64_t most = 0;                ///< Samples of each part at most, from all over; 0: all.
  int threads = 0;                 ///< 0: as many as cores may be used. The report does not depend on it.
  /// Told now and then which part is being read and how far; may be empty.
  std::function<void(const std::string& path, int64_t done, int64_t total)> progress = {};
  /// Is told what the datasets have to say of their data; may be empty.
  std::function<void(const std::string&)> remark = {};
};

/// Numbers of a field, of one element of a vector, or of one channel of an image.
struct DataColumn {
  std::string name;   ///< The column of the table, "#2" where it has no name; empty for a field as a whole.
  int64_t count = 0;  ///< Finite numbers, of which the rest tells.
  double mean = 0;
  double deviation = 0;  ///< Of the population.
  double minimum = 0;
  double maximum = 0;
  int64_t not_finite = 0;
  int64_t first_not_finite = -1;  ///< A sample that holds one, or -1.

  /// Two numbers at least, and all the same.
  [[nodiscard]] bool constant() const noexcept { return count > 1 && minimum == maximum; }
};

/// Shapes of a field that has free axes. "Small" and "large" count elements.
struct DataSizes {
  Shape smallest;
  Shape largest;
  Shape most_frequent;
  int64_t smallest_sample = 0;
  int64_t largest_sample = 0;
  int64_t most_frequent_count = 0;
  int64_t different = 0;
};

/// How often a class occurs.
struct DataClass {
  int64_t number = 0;
  std::string name;          ///< Empty where it has none.
  int64_t count = 0;         ///< Samples; of a mask, pixels.
  int64_t first_sample = 0;  ///< One that has it.
};

/// One field at one place of the stream.
struct DataField {
  enum class Per { kNothing, kField, kElement, kChannel };

  FieldSpec field;
  Per per = Per::kNothing;
  std::vector<DataColumn> columns;  ///< What `per` says, in order.
  std::optional<DataSizes> sizes;   ///< Where an axis is free.
  std::vector<DataClass> classes;   ///< Of integer scalars and masks, by number; empty where they number no classes.
};

/// Mean and deviation of an image's channels, as a normalising transform takes them.
struct DataScale {
  std::string field;
  std::string node;  ///< The transform that takes them; empty where the stream has none.
  std::vector<double> mean;
  std::vector<double> deviation;
  int64_t unit = 1;  ///< They are divided by it: 255 for images of 8 bits, 65535 for those of 16 in int32.
};

/// What losses and metrics expect of a field of the batch.
struct DataTarget {
  std::string field;
  std::string node;                ///< The loss or metric that reads it.
  std::optional<int64_t> classes;  ///< Numbers 0 … classes − 1 are allowed; nothing where the graph does not tell.
  std::string model;               ///< The model that tells them.
  std::optional<int64_t> ignored;  ///< A number that counts for no class.
  bool numbers_classes = false;    ///< Else it is a quantity.
};

struct DataFailure {
  int64_t index = 0;
  std::string node;     ///< At fault.
  std::string message;  ///< Names node, component, dataset, and the file where the component does.
};

/// What was found in one stream.
struct DataPart {
  std::string path;
  std::string dataset;    ///< Node.
  std::string component;  ///< "dataset:csv"
  int64_t size = 0;
  int64_t read = 0;
  std::vector<DataFailure> failures;     ///< All, by index.
  std::optional<int64_t> tolerated;      ///< So many of an epoch the loader leaves out or replaces; empty: none.
  std::vector<DataField> stored;         ///< As the dataset gives them.
  std::vector<DataField> seen;           ///< Behind all transforms but the random ones.
  std::vector<std::string> left_out;     ///< Random transforms that `seen` leaves out.
  std::string cut;                       ///< The first transform that `seen` does not reach; empty for the end.
  std::vector<std::string> unbatchable;  ///< Fields whose shapes differ and that the loader cannot put into one batch.
  std::vector<DataTarget> targets;
  std::vector<DataScale> scales;  ///< Of images that a model reads; of training alone.
};

/// Samples that occur more than once, within a part or in two.
struct DataDuplicates {
  struct Pair {
    int64_t index = 0;  ///< In `path`.
    int64_t other = 0;  ///< In `other`, or the earlier one in `path`.
  };
  std::string path;
  std::string other;  ///< Equal to `path` for those within it.
  int64_t count = 0;  ///< Samples of `path` that have a twin in `other`; within: those with a twin before them.
  std::vector<Pair> examples;
};

/// Something to be told: error, warning or note.
struct DataFinding {
  core::Severity severity = core::Severity::kWarning;
  std::string code;                ///< "label-range"
  std::vector<std::string> paths;  ///< Of the parts that it is about.
  std::string node;                ///< The dataset or transform to be looked at; may be empty.
  std::string field;               ///< May be empty.
  std::string message;
};

struct DataReport {
  std::vector<DataPart> parts;             ///< In the order of training, validations, test, predict.
  std::vector<DataDuplicates> duplicates;  ///< Those with a count.
  std::vector<DataFinding> findings;       ///< Errors first, then warnings, then notes.

  /// True when some finding is of that severity.
  [[nodiscard]] bool has(core::Severity severity) const noexcept {
    for (const DataFinding& finding : findings) {
      if (finding.severity == severity) return true;
    }
    return false;
  }
};

}  // namespace tenon::engine
