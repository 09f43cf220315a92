// A dataset and the transforms behind it: makes one sample at a time, the same bytes on any thread in any order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <engine/data/stage.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/in_memory.hpp>
#include <tenon/components/item_names.hpp>
#include <tenon/components/partial_read.hpp>
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

/// One thread's memory for the values between stages, and for further samples that a stage takes. Reused from sample to
/// sample: after the first ones it asks the system for nothing.
class Workspace {
 private:
  friend class Stream;
  Arena arena_;
  std::vector<std::vector<Value>> values_;  // by stage
  std::vector<const std::byte*> views_;     // of the dataset's fields
  std::vector<std::unique_ptr<Workspace>> others_;
  std::vector<FinishedSample> finished_;  // of others_
  std::vector<const Sample*> samples_;    // finished_
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
///
/// Datasets whose items lie in memory (InMemory) are read where they lie: read() is not called. Where a dataset with
/// PartialRead is followed by a transform with Cutting on the same field, the transform is asked for the region before
/// the dataset decodes anything. A transform with MultiSample gets its further samples through the stages before it, so
/// that behind k of them in a row, each of which takes n, a sample costs (n + 1)^k reads. None of this changes a byte.
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

  /// How many transforms there are.
  [[nodiscard]] int64_t transforms() const noexcept { return static_cast<int64_t>(stages_.size()) - 1; }

  /// Whether items are read where they lie in memory, so that a sample costs what its transforms do. The dataset is
  /// open.
  [[nodiscard]] bool in_memory() const noexcept {
    const InMemory* const view = abilities().in_memory;
    return view != nullptr && view->can_view();
  }

  /// Whether a batch is nothing but a copy of items in memory: copy() makes it then, with the bytes of run().
  [[nodiscard]] bool copies() const noexcept { return transforms() == 0 && in_memory(); }

  /// Copies items, where copies(): `fields` has a block for each of fields(), in which the items lie one behind the
  /// other, in the order of `items`. `at` is the one that is being looked at. \throws DataError of an item that the
  /// dataset has no memory of: what read() says is wrong with it, or kPlugin where that finds nothing. [loader]
  void copy(std::span<const int64_t> items, std::span<std::byte* const> fields, std::atomic<int64_t>& at) const;

  /// Where in_memory(): brings an item into the processor's caches while another is worked on. [loader]
  void prefetch(int64_t item) const noexcept;

  /// What the dataset, which is open, calls an item: a file, mostly. Empty where it has no names, or does not find this
  /// one. Reads nothing. [any thread]
  [[nodiscard]] std::string item_name(int64_t item) const noexcept;

  /// "sample 17 (cats/0017.jpg)": with so much of the item's name as `cause`, which follows, does not tell. [any thread]
  [[nodiscard]] std::string describe_sample(int64_t item, std::string_view cause = {}) const;

  /// Makes one sample. Whatever a component throws, and whatever contradicts its spec, comes out as one
  /// \throws DataError (kData; kPlugin where a component breaks the contract of an ability) naming node, component,
  /// sample, dataset, epoch and cause. [loader]
  void run(const SampleKey& key, Destination& destination, Workspace& workspace) const;

 private:
  /// One sample under way.
  struct Trip {
    const SampleKey& key;
    Workspace& workspace;
    Destination* destination;      // nullptr: a sample that a stage of another trip takes
    const Trip* outer = nullptr;   // that trip
    const Stage* taker = nullptr;  // and that stage
  };
  /// The dataset reads what the first transform looks at, and no more.
  struct CutReading {
    const PartialRead* reader = nullptr;
    const Cutting* cutting = nullptr;
    int field = 0;  // behind the dataset
  };
  class Chooser;

  /// What the dataset can do, asked once it is open: one over others may know no earlier.
  struct Abilities {
    std::once_flag once;
    const InMemory* in_memory = nullptr;
    const ItemNames* item_names = nullptr;
    std::optional<CutReading> cut;
  };
  [[nodiscard]] const Abilities& abilities() const noexcept;
  void find_abilities() const noexcept;
  [[nodiscard]] Rng random_for(const Stage& stage, const SampleKey& key) const noexcept;
  [[nodiscard]] std::string place_of(const Trip& trip, const std::string& cause) const;
  [[noreturn]] void fail(const Stage& stage, const Trip& trip) const;
  template <class Body>
  void entering(const Stage& stage, const char* method, const Trip& trip, const Body& body) const;

  void run_to(std::size_t end, const Trip& trip) const;
  void run_stage(std::size_t index, const Trip& trip) const;
  [[nodiscard]] StageSample sample_of(std::size_t index, const Trip& trip) const;
  void view(const Trip& trip) const;
  void look_at(const SampleKey& key, std::span<const std::byte*> views) const;
  [[noreturn]] void explain_missing(const SampleKey& key, std::size_t field) const;
  void read_cut(const Trip& trip) const;
  [[nodiscard]] std::span<const Sample* const> take_others(std::size_t index, const Trip& trip) const;

  const Dataset* dataset_;
  uint64_t seed_;
  std::vector<Stage> stages_;
  std::unique_ptr<Abilities> abilities_ = std::make_unique<Abilities>();
};

}  // namespace tenon::engine
