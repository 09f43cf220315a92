// The stream of one path as tensors on the device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <c10/core/Device.h>

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

/// Opens every dataset of the graph that some path reads, each once, behind its inputs. \throws PlacedError. [trainer]
void open_datasets(const Components& components);

/// Text that changes when any item of any stream could: for the lock. Datasets are open. [trainer]
[[nodiscard]] core::Json data_fingerprints(const Components& components);

/// What a path's loader gives. [trainer]
class Feed {
 public:
  /// Asks all components of the stream for their specs; reads nothing.
  Feed(const Components& components, const core::Path& path, uint64_t seed);

  /// Fields of a sample, without a batch axis.
  [[nodiscard]] const Spec& fields() const noexcept { return stream_.fields(); }
  [[nodiscard]] const core::Path& path() const noexcept { return path_; }

  /// Makes the loader; the datasets are open. `batch` stands in for the configured size when it is given.
  void connect(const Collectives& ranks, c10::Device device, std::optional<int64_t> batch = std::nullopt);

  /// Batches of an epoch; samples of one batch over all ranks, when full; samples of the dataset.
  [[nodiscard]] int64_t batches() const { return loader_->batches(); }
  [[nodiscard]] int64_t batch_size() const noexcept { return batch_; }
  [[nodiscard]] int64_t size() const { return stream_.size(); }

  void start(int64_t epoch, int64_t first_batch, int64_t epochs);

  /// The next batch, or nothing at the end of an epoch. \throws Error (kData) naming sample, node and cause.
  [[nodiscard]] std::optional<DeviceBatch> next();

  /// Seconds spent waiting for data so far.
  [[nodiscard]] double waited() const;

 private:
  core::Path path_;
  const core::Node& loader_node_;
  Stream stream_;
  c10::Device device_{c10::kCPU};
  int64_t batch_ = 0;
  std::unique_ptr<Loader> loader_;
};

}  // namespace tenon::engine
