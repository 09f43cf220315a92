// Which samples an epoch draws, and in which order: by `shuffle`, weights, classes and buckets.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <core/plugin/loader_params.hpp>
#include <engine/data/order.hpp>

namespace tenon::engine {

/// What an order depends on, besides the dataset's columns.
struct OrderOptions {
  int64_t items = 0;  ///< of the dataset
  bool shuffle = false;
  std::optional<core::SamplerParams> sampler = {};
  std::optional<core::BucketParams> buckets = {};
  int64_t batch = 1;  ///< samples of a batch over all ranks, for buckets
  uint64_t seed = 0;
  std::string node = {};  ///< the loader's name: a part of the key of all random numbers
};

/// Columns of the dataset, for each item, as far as the options name a field for them.
struct OrderColumns {
  std::vector<double> weights;   ///< of sampler.weights
  std::vector<int32_t> classes;  ///< of sampler.balance: numbers from 0 on without a gap; -1: never drawn
  std::vector<int64_t> lengths;  ///< of buckets.field
};

/// Makes the orders of all epochs. Besides the order that is in use, 8 bytes a sample where no sample repeats, it keeps
/// 8 bytes an item for weights and classes each, and 4 for lengths. Immutable; any thread.
class Sampler {
 public:
  /// \throws Error: kConfig with the pointer of a parameter that the dataset cannot fulfil; kData for weights that are
  /// none, naming the item.
  Sampler(OrderOptions options, OrderColumns columns);

  /// Positions of each epoch: BatchPlan::items.
  [[nodiscard]] int64_t samples() const noexcept { return samples_; }

  /// Whether a sample may come more than once in an epoch.
  [[nodiscard]] bool repeats() const noexcept { return draw_ != nullptr; }

  /// The order of an epoch: a pure function of (seed, node, epoch), equal on every rank.
  [[nodiscard]] EpochOrder epoch(int64_t epoch) const;

 private:
  void take_weights(std::vector<double> weights);
  void take_classes(const std::vector<int32_t>& classes);
  void check_samples(int64_t drawable) const;
  [[nodiscard]] std::vector<int64_t> draw_without_replacement(uint64_t key) const;

  OrderOptions options_;
  int64_t samples_ = 0;
  std::shared_ptr<const Draw> draw_;  // with replacement
  std::vector<double> weights_;       // without
  std::vector<uint32_t> ranks_;       // of lengths
};

}  // namespace tenon::engine
