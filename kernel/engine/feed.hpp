// The stream of one path as tensors on the device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <core/plugin/builtin.hpp>
#include <engine/batch_stages.hpp>
#include <engine/components.hpp>
#include <engine/data/loader.hpp>
#include <tenon/components/distributed.hpp>
#include <tenon/tensors.hpp>

namespace tenon::engine {

/// A batch on the device.
struct DeviceBatch {
  Tensors fields;
  int64_t samples = 0;
  int64_t epoch = 0;
  int64_t index = 0;  ///< In its epoch.
  std::vector<int64_t> sample_ids;
};

/// Opens every dataset that some of these paths read, each once, behind its inputs. \throws PlacedError. [trainer]
void open_datasets(const Components& components, std::span<const core::Path* const> paths);

/// Text that changes when any item of these paths' streams could: for the lock. Their datasets are open. [trainer]
[[nodiscard]] core::Json data_fingerprints(const Components& components, std::span<const core::Path* const> paths);

/// Tells `remark`, unless it is empty, what the datasets of these paths have to say of their data, for people. They are
/// open. \throws PlacedError. [trainer]
void tell_remarks(const Components& components, std::span<const core::Path* const> paths,
                  const std::function<void(const std::string&)>& remark);

/// What a path's loader gives. [trainer]
class Feed {
 public:
  /// Asks all components of the stream for their specs; reads nothing.
  Feed(const Components& components, const core::Path& path, uint64_t seed);
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  /// Ends the loader's threads. Those that do not come back from a sample within half a second are given up, and with
  /// them the components that the stream reads: they are never destroyed.
  ~Feed();

  /// Fields of a batch, the batch axis "N" first: as the loader gives them, and behind the transforms of batches.
  [[nodiscard]] const Spec& loader_fields() const noexcept { return loader_fields_; }
  [[nodiscard]] const Spec& fields() const noexcept { return fields_; }
  [[nodiscard]] const core::Path& path() const noexcept { return path_; }
  [[nodiscard]] const Stream& stream() const noexcept { return *stream_; }

  /// Makes the loader, or another one, as the datasets have it now; they are open, and one is read once where a sampler
  /// or buckets need to know what its index does not; `poll`, where there is one, is called now and then meanwhile, and
  /// what it throws comes out. Floating fields come in the type `storage`. \throws PlacedError
  void connect(const Collectives& ranks, c10::Device device, at::ScalarType storage,
               const std::function<void()>& poll = {});

  [[nodiscard]] at::ScalarType storage() const noexcept { return storage_; }

  /// Batches of an epoch, as far as the path allows; samples of one batch over all ranks, when full; samples of the
  /// dataset.
  [[nodiscard]] int64_t batches() const { return loader_->batches(); }
  /// The same, were the limit on an epoch another one, or none.
  [[nodiscard]] int64_t batches_within(std::optional<int64_t> limit) const;
  [[nodiscard]] int64_t batch_size() const noexcept { return batch_; }
  [[nodiscard]] int64_t size() const { return stream_->size(); }

  /// Samples of a batch over all ranks.
  [[nodiscard]] int64_t samples_of(int64_t batch) const { return loader_->plan().whole(batch).size(); }

  void start(int64_t epoch, int64_t first_batch, int64_t epochs);

  /// The next batch, or nothing at the end of an epoch. `poll`, where there is one, is called now and then while there
  /// is nothing yet; what it throws comes out, and the batch is lost. \throws PlacedError (kData) naming sample, node and
  /// cause.
  [[nodiscard]] std::optional<DeviceBatch> next(const std::function<void()>& poll = {});

  /// Seconds spent waiting for data so far, and for bringing it to the device in its type.
  [[nodiscard]] double waited() const;
  [[nodiscard]] double copied() const noexcept { return copied_; }

  /// How the loader works, as measured so far.
  [[nodiscard]] LoaderFacts loader_facts() const { return loader_->facts(); }

  /// Whether samples that cannot be made are left out or replaced; those of the batches since the last call.
  [[nodiscard]] bool tolerates_bad_samples() const noexcept { return params_.bad_sample.has_value(); }
  [[nodiscard]] BadSamples take_bad_samples() { return loader_->take_bad_samples(); }

  /// What people should know of since the last call.
  [[nodiscard]] std::vector<std::string> take_messages();

  /// What was asked of the stream so far, also ahead of next().
  [[nodiscard]] const LoaderReads& reads() const noexcept { return loader_->reads(); }

 private:
  [[nodiscard]] Spec fields_of_batch() const;
  /// Comes from any thread, also from memory that outlives the feed.
  struct Messages {
    std::mutex mutex;
    std::vector<std::string> texts;

    void add(std::string text) {
      const std::lock_guard lock(mutex);
      texts.push_back(std::move(text));
    }
  };

  void end_loader();
  [[nodiscard]] LoaderOptions loader_options(const Collectives& ranks) const;
  std::optional<Batch> take(const std::function<void()>& poll);
  [[nodiscard]] std::string place_of(const DataError& error) const;

  const Components& components_;
  core::Path path_;
  const core::Node& loader_node_;
  core::LoaderParams params_;
  std::shared_ptr<const Stream> stream_;
  Spec loader_fields_;
  BatchStages batch_stages_;
  Spec fields_;
  c10::Device device_{c10::kCPU};
  at::ScalarType storage_ = at::kFloat;
  int64_t batch_ = 0;
  int64_t rank_ = 0;
  int64_t epochs_ = 1;
  double copied_ = 0;
  std::shared_ptr<Messages> messages_ = std::make_shared<Messages>();
  std::unique_ptr<Loader> loader_;
};

}  // namespace tenon::engine
