// What one rank's part of a run stands on: components, data, networks, optimizers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/Device.h>

#include <engine/agreement.hpp>
#include <engine/components.hpp>
#include <engine/engine.hpp>
#include <engine/events.hpp>
#include <engine/feed.hpp>
#include <engine/guarded.hpp>
#include <engine/optimization.hpp>
#include <engine/training.hpp>
#include <tenon/components/distributed.hpp>
#include <tenon/components/observer.hpp>
#include <tenon/components/precision.hpp>

namespace tenon::engine {

/// Opened and tried, ready to train. [trainer]
class Setup {
 public:
  /// Makes the components; no I/O. `ranks`: those of an in-process backend, or nullptr to join as the pipeline says.
  Setup(const RunRequest& request, Collectives* ranks);

  /// Tries the networks without memory, then gives memory, opens data, starts loaders. Once. \throws Interrupted on all
  /// ranks when any has heard a signal while data was read.
  void prepare();

  /// What people should know of that.
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }

  [[nodiscard]] const RunRequest& request() const noexcept { return request_; }
  [[nodiscard]] const core::Graph& graph() const noexcept { return graph_; }
  [[nodiscard]] Components& components() noexcept { return components_; }
  [[nodiscard]] c10::Device device() const noexcept { return device_; }
  [[nodiscard]] uint64_t seed() const noexcept { return seed_; }
  [[nodiscard]] Collectives& ranks() const noexcept { return *ranks_; }
  [[nodiscard]] bool leads() const noexcept { return ranks_->rank() == 0; }
  [[nodiscard]] Precision& precision() const noexcept { return *precision_; }
  [[nodiscard]] Feed& fit_feed() noexcept { return fit_feed_; }
  /// Of each phase, or nullptr where it has no data of its own; of each validation, in their order.
  [[nodiscard]] Feed* phase_feed(std::size_t phase) noexcept { return phase_feeds_[phase].get(); }
  [[nodiscard]] Feed& validate_feed(std::size_t validation) noexcept { return *validate_feeds_[validation]; }
  [[nodiscard]] Feed& test_feed() noexcept { return *test_feed_; }
  [[nodiscard]] Optimization& optimization() noexcept { return *optimization_; }
  [[nodiscard]] Training& training() noexcept { return *training_; }

  /// What equal bytes depend on besides the pipeline: device, threads, instruction set, libtorch, data.
  [[nodiscard]] core::Json provenance() const;

  /// Tells what the datasets have to say of their data; `remark` may be empty.
  void tell_remarks(const std::function<void(const std::string&)>& remark) const {
    engine::tell_remarks(components_, paths_, remark);
  }

  /// Every component of `stop` and `observe`, by its name for people.
  [[nodiscard]] std::vector<Listener> observers() const;

 private:
  void connect(const std::vector<Feed*>& feeds, const InterruptionPoll& poll);
  void fit_data();
  void load_values(const core::Node& model);

  const RunRequest& request_;
  const core::Graph& graph_;
  c10::Device device_;
  Components components_;
  core::ComponentHandle alone_;  // what the pipeline leaves to the kernel
  GuardedPrecision guarded_;
  std::optional<GuardedCollectives> joined_;
  Collectives* ranks_;
  Precision* precision_;
  uint64_t seed_;
  Feed fit_feed_;
  std::vector<std::unique_ptr<Feed>> phase_feeds_;  // nullptr for a phase without data of its own
  std::vector<std::unique_ptr<Feed>> validate_feeds_;
  std::optional<Feed> test_feed_;
  std::optional<Feed> predict_feed_;      // to be typed alone
  std::vector<const core::Path*> paths_;  // whose datasets are open
  std::unique_ptr<Optimization> optimization_;
  std::unique_ptr<Training> training_;
  std::vector<std::string> notes_;
};

/// The pipeline's precision policy, or float32 as the kernel's own, kept in `guarded`, through which it is called.
[[nodiscard]] Precision& precision_of(Components& components, GuardedPrecision& guarded);

}  // namespace tenon::engine
