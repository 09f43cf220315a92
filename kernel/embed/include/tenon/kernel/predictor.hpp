// The models of a checkpoint, kept ready to predict from memory.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tenon/kernel/columns.hpp>
#include <tenon/kernel/export.hpp>
#include <tenon/spec.hpp>

namespace tenon::kernel {

struct PredictorOptions {
  /// The fields that predict() is going to be given: those that the path "predict" of the pipeline reads, behind its
  /// datasets and before its transforms. Sizes that differ from row to row, as of texts, are free (`Dim()`).
  Spec fields = {};
  std::vector<std::filesystem::path> overlays = {};  ///< Change the run's pipeline, such as one without "predict".
  std::vector<std::string> sets = {};                ///< Likewise, as --set.
};

/// Runs the path "predict" with rows from memory in the place of its dataset: the same transforms, weights, batch size
/// and outputs, and so the same numbers, as `tenon predict` on the same data. Has one thread of its own, which is where
/// libtorch works. Each row is predicted once: a loader's `workers`, `shuffle`, `sampler`, `buckets`, `last` and
/// `bad_sample` do not count.
///
/// A moved-from one may only be destroyed or assigned to. Calls from several threads take turns. It needs the objects
/// that its Runtime's components were bound to, and not the Runtime itself.
class TENON_KERNEL_API Predictor {
 public:
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;
  ~Predictor();  ///< Joins its thread.

  /// Predicts each row of the columns, which are the fields of PredictorOptions in any order, all of as many rows. The
  /// data is read during the call alone. \throws kernel::Error: kConfig for columns that are not those fields, kData
  /// for no row at all, for rows that a transform cannot take, and for an output whose rows differ in shape. [any thread]
  [[nodiscard]] Predictions predict(std::span<const Column> columns);
  [[nodiscard]] Predictions predict(std::initializer_list<Column> columns) {
    return predict(std::span(columns.begin(), columns.size()));
  }

  /// The checkpoint whose weights they are.
  [[nodiscard]] const std::filesystem::path& checkpoint() const noexcept;

  class Content;
  explicit Predictor(std::unique_ptr<Content> content) noexcept;

 private:
  std::unique_ptr<Content> content_;
};

}  // namespace tenon::kernel
