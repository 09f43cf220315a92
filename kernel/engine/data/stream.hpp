// A dataset and the transforms behind it: makes one sample at a time, the same bytes on any thread in any order.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <engine/data/stage.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/error.hpp>

namespace tenon::engine {

/// A dataset as a node of the pipeline. The component belongs to the caller and outlives the stream.
struct DatasetNode {
  std::string node;
  std::string component;  ///< "dataset:digits"
  const Dataset* dataset = nullptr;
  const core::Callee* callee = nullptr;  ///< What crash reports call it.
};

/// A transform as a node of the pipeline; likewise.
struct TransformNode {
  std::string node;
  std::string component;
  const Transform* transform = nullptr;
  const core::Callee* callee = nullptr;
};

/// Which sample, and when. Together with the seed and a node's name this is the key of all random numbers.
struct SampleKey {
  int64_t index = 0;       ///< in the dataset
  int64_t epoch = 0;       ///< from 0
  int64_t epochs = 1;      ///< planned; transforms may look at it, random numbers do not depend on it
  int64_t occurrence = 0;  ///< counts repetitions of the sample within the epoch
};

/// One thread's memory for the values between stages. Reused from sample to sample.
class Workspace {
 private:
  friend class Stream;
  Arena arena_;
  std::vector<std::vector<Value>> values_;  // by stage
};

/// True for bytes of no fixed number, as which texts come.
[[nodiscard]] inline bool may_be_text(const FieldSpec& field) {
  return field.dtype == Dtype::kUint8 && field.shape.size() == 1 && !field.shape.front().fixed();
}

/// What went wrong with a sample or a batch, and where: the node at fault, or the field that cannot be stacked.
class DataError final : public Error {
 public:
  DataError(ErrorCode code, const std::string& message, std::string node, std::string field = {})
      : Error(code, message), node_(std::move(node)), field_(std::move(field)) {}

  [[nodiscard]] const std::string& node() const noexcept { return node_; }    ///< Empty where it is the batch's.
  [[nodiscard]] const std::string& field() const noexcept { return field_; }  ///< Empty where it is a node's.

 private:
  std::string node_;
  std::string field_;
};

/// Immutable after construction; run() is safe on many threads, each with a workspace of its own.
class Stream {
 public:
  /// Asks each component for its spec; opens and reads nothing, so the dataset need not be open yet. [trainer]
  /// \throws Error with the component's own code and pointer, naming node and component; kPlugin for a faulty spec.
  Stream(DatasetNode dataset, std::vector<TransformNode> transforms, uint64_t seed);

  /// The fields of a sample at the end, without a batch axis.
  [[nodiscard]] const Spec& fields() const noexcept { return stages_.back().spec; }

  /// The fields behind a stage: 0 is the dataset, i the i-th transform.
  [[nodiscard]] const Spec& fields_after(int stage) const { return stages_.at(static_cast<std::size_t>(stage)).spec; }

  /// Items of the dataset, which is open by now.
  [[nodiscard]] int64_t size() const;

  [[nodiscard]] uint64_t seed() const noexcept { return seed_; }
  [[nodiscard]] const std::string& dataset_node() const noexcept { return stages_.front().node; }

  /// Makes one sample. Whatever a component throws, and whatever contradicts its spec, comes out as one
  /// \throws Error (kData) naming node, component, sample, dataset, epoch and cause. [loader]
  void run(const SampleKey& key, Destination& destination, Workspace& workspace) const;

 private:
  void run_stage(const Stage& stage, const SampleKey& key, StageSample& sample) const;

  const Dataset* dataset_;
  uint64_t seed_;
  std::vector<Stage> stages_;
};

}  // namespace tenon::engine
