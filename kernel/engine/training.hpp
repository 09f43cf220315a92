// One optimizer step after the other: the order of things that no plugin can change.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <engine/components.hpp>
#include <engine/feed.hpp>
#include <engine/optimization.hpp>
#include <engine/step_graph.hpp>
#include <tenon/components/precision.hpp>
#include <tenon/state.hpp>

namespace tenon::engine {

/// Sums since the last log line, on the device until they are read with one transfer.
class LossLog {
 public:
  /// `terms`: names of the loss nodes with their weights.
  LossLog(std::vector<core::LossTerm> terms, at::TensorOptions options);

  /// Adds what one step found: for each term the sum over the window and its weight.
  void add(const std::vector<at::Tensor>& sums, const std::vector<at::Tensor>& weights, const at::Tensor& norm);

  /// "train.loss" (Σ λ·sum/weight), with several terms "train.loss.NODE", and "train.grad_norm" (the mean); begins
  /// anew.
  [[nodiscard]] std::vector<std::pair<std::string, double>> take();

  /// What a checkpoint between two log lines has to keep.
  void state(StateIo& io);

 private:
  std::vector<core::LossTerm> terms_;
  at::Tensor sums_;  // float64: sum and weight of each term, norms, steps
};

/// What one attempted step did.
struct StepReport {
  int64_t samples = 0;  ///< Over all ranks.
  int64_t epoch = 0;    ///< In which it was made.
  bool epoch_end = false;
};

/// The loop's inner part. Steps count from 0. [trainer]
class Training {
 public:
  Training(const Components& components, Feed& feed, Optimization& optimization, Collectives& ranks,
           Precision& precision, c10::Device device);

  /// Steps of an epoch, of the whole run, and epochs that the run touches.
  [[nodiscard]] int64_t steps_per_epoch() const noexcept { return steps_per_epoch_; }
  [[nodiscard]] int64_t planned() const noexcept { return planned_; }
  [[nodiscard]] int64_t epochs() const noexcept { return epochs_; }

  /// Where training stands: attempted and applied steps, complete epochs, batches of the present one, samples seen.
  [[nodiscard]] int64_t step_count() const noexcept { return step_; }
  [[nodiscard]] int64_t applied() const noexcept { return applied_; }
  [[nodiscard]] int64_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] int64_t batch() const noexcept { return batch_; }
  [[nodiscard]] int64_t samples() const noexcept { return samples_; }
  [[nodiscard]] Progress progress() const;

  /// Starts the feed at the present position.
  void start();

  /// Fetches a window, and makes one update of it. `poll`, where there is one, is called while data is waited for, before
  /// anything has changed: what it throws leaves training as it was. \throws PlacedError: kDiverged before any parameter changes when a
  /// loss or a gradient is not finite. On a GPU this is found out at the next log line; the update itself never
  /// happened.
  StepReport step(const std::function<void()>& poll = {});

  /// Values for a log line since the last one.
  [[nodiscard]] std::vector<std::pair<std::string, double>> take_log();

  /// Position and sums, for checkpoints. A position that was saved with another batch size, number of micro-batches or
  /// size of the dataset is converted in samples, and the run planned anew from there.
  void state(StateIo& io);

 private:
  std::vector<DeviceBatch> fetch_window(const std::function<void()>& poll);
  void replan(int64_t saved_batch_size);
  std::vector<at::Tensor> window_weights(const std::vector<DeviceBatch>& window);
  void accumulate(DeviceBatch& batch, int64_t micro_batch, const std::vector<at::Tensor>& weights,
                  std::vector<at::Tensor>& sums);
  [[noreturn]] void diverged(double norm, const std::vector<at::Tensor>& sums, const std::vector<at::Tensor>& weights,
                             const std::vector<DeviceBatch>& window) const;

  const Components& components_;
  const core::Fit& fit_;
  Feed& feed_;
  Optimization& optimization_;
  Collectives& ranks_;
  Precision& precision_;
  c10::Device device_;
  StepGraph graph_;
  at::Generator generator_;
  LossLog log_;
  uint64_t seed_;
  int64_t steps_per_epoch_;
  int64_t planned_;
  int64_t epochs_;
  int64_t step_ = 0;
  int64_t applied_ = 0;
  int64_t epoch_ = 0;
  int64_t batch_ = 0;
  int64_t samples_ = 0;
};

/// A generator for `device` that only keyed draws use.
[[nodiscard]] at::Generator make_generator(c10::Device device);

}  // namespace tenon::engine
