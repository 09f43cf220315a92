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
  /// `terms`: names of the loss nodes, each once, with their weights.
  LossLog(std::vector<core::LossTerm> terms, at::TensorOptions options);

  /// Adds what one update found: for each of its losses the sum over the window and its weight.
  void add(const std::vector<core::LossTerm>& losses, const std::vector<at::Tensor>& sums,
           const std::vector<at::Tensor>& weights, const at::Tensor& norm);

  /// "train.loss" (Σ λ·sum/weight), with several terms "train.loss.NODE", and "train.grad_norm" (the mean); begins
  /// anew.
  [[nodiscard]] std::vector<std::pair<std::string, double>> take();

  /// What a checkpoint between two log lines has to keep.
  void state(StateIo& io);

 private:
  std::vector<core::LossTerm> terms_;
  at::Tensor sums_;  // float64: sum and weight of each term, norms, updates
};

/// What one attempted step did.
struct StepReport {
  int64_t samples = 0;  ///< Over all ranks.
  int64_t epoch = 0;    ///< In which it was made.
  bool epoch_end = false;
};

/// How long training is.
struct TrainingPlan {
  /// The feed is connected.
  TrainingPlan(const core::Fit& fit, const Feed& feed) : TrainingPlan(fit, feed, feed.batches()) {}

  /// Likewise, for epochs of so many batches.
  TrainingPlan(const core::Fit& fit, const Feed& feed, int64_t batches);

  int64_t steps_per_epoch;
  int64_t steps;
  int64_t epochs;  ///< That the run touches.
};

/// The training that a limit on the command line (--limit, --overfit, --set) cuts short, as it would be without; nothing
/// where there is no such limit. A limit that stands in a file is the pipeline's own.
[[nodiscard]] std::optional<TrainingPlan> uncut_plan(const core::Resolved& resolved, const core::Fit& fit,
                                                     const Feed& feed);

/// The loop's inner part. Steps count from 0. [trainer]
class Training {
 public:
  /// `own_feeds`: for each phase of `fit` the data of its own, or nullptr.
  Training(const Components& components, Feed& feed, std::vector<Feed*> own_feeds, Optimization& optimization,
           Collectives& ranks, Precision& precision, c10::Device device);

  /// Steps of an epoch, of the whole run, and epochs that the run touches.
  [[nodiscard]] int64_t steps_per_epoch() const noexcept { return plan_.steps_per_epoch; }
  [[nodiscard]] int64_t planned() const noexcept { return plan_.steps; }
  [[nodiscard]] int64_t epochs() const noexcept { return plan_.epochs; }

  /// Where training stands: attempted and applied steps, complete epochs, batches of the present one, samples seen.
  [[nodiscard]] int64_t step_count() const noexcept { return step_; }
  [[nodiscard]] int64_t applied() const noexcept { return applied_; }
  [[nodiscard]] int64_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] int64_t batch() const noexcept { return batch_; }
  [[nodiscard]] int64_t samples() const noexcept { return samples_; }
  [[nodiscard]] Progress progress() const;

  /// Starts the feed at the present position.
  void start();

  /// Fetches what the step needs, and makes one update for each phase and repetition. `poll`, where there is one, is
  /// called while data is waited for, before anything has changed: what it throws leaves training as it was.
  /// \throws PlacedError: kDiverged before an update changes any parameter when a loss or a gradient is not finite. On a
  /// GPU this is found out at the next log line; the update itself never happened.
  StepReport step(const std::function<void()>& poll = {});

  /// Takes the first window through forward and backward of every phase, and updates nothing: for looking at modules.
  /// Gradients are left as they came; position and sums are as before. Starts the feed anew. `begin` is told before each
  /// micro-batch, counted from 0 in its window.
  using BeginPass = std::function<void(const core::Phase& phase, int64_t micro_batch)>;
  void try_backward(const BeginPass& begin = {});

  /// Values for a log line since the last one.
  [[nodiscard]] std::vector<std::pair<std::string, double>> take_log();

  /// Position and sums, for checkpoints. A position that was saved with another batch size, number of micro-batches or
  /// size of the dataset is converted in samples, and the run planned anew from there.
  void state(StateIo& io);

 private:
  using Window = std::vector<DeviceBatch>;

  /// One phase at work.
  struct PhaseWork {
    const core::Phase& phase;
    StepGraph graph;
    Feed* own_feed;  // nullptr: the step's window
  };

  /// What one update sums up over a window, by term.
  struct Sums {
    std::vector<at::Tensor> sums;
    std::vector<at::Tensor> weights;
  };

  [[nodiscard]] Window fetch_window(const std::function<void()>& poll);
  [[nodiscard]] std::vector<Window> fetch_own(const PhaseWork& work, const std::function<void()>& poll);
  void start_own(const PhaseWork& work);
  void replan(int64_t saved_batch_size);
  [[nodiscard]] std::vector<at::Tensor> window_weights(const core::Phase& phase, const Window& window);
  [[nodiscard]] Sums gradients(const PhaseWork& work, const Window& window, int64_t repetition,
                               const BeginPass& begin = {});
  void update(const PhaseWork& work, const Window& window, int64_t repetition);
  void accumulate(const PhaseWork& work, const DeviceBatch& batch, int64_t micro_batch, uint64_t key, Sums& sums);
  [[noreturn]] void diverged(const PhaseWork& work, double norm, const Sums& sums, const Window& window) const;

  const Components& components_;
  const core::Fit& fit_;
  Feed& feed_;
  Optimization& optimization_;
  Collectives& ranks_;
  Precision& precision_;
  c10::Device device_;
  std::vector<PhaseWork> phases_;
  at::Generator generator_;
  LossLog log_;
  uint64_t seed_;
  TrainingPlan plan_;
  int64_t step_ = 0;
  int64_t applied_ = 0;
  int64_t epoch_ = 0;
  int64_t batch_ = 0;
  int64_t samples_ = 0;
};

/// A generator for `device` that only keyed draws use.
[[nodiscard]] at::Generator make_generator(c10::Device device);

}  // namespace tenon::engine
