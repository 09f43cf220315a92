// Optimizers with their groups and schedules: everything between finished gradients and new parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include <engine/components.hpp>
#include <engine/models.hpp>
#include <engine/schedules.hpp>
#include <tenon/components/distributed.hpp>
#include <tenon/components/schedule.hpp>

namespace tenon::engine {

/// Owns the memory of all trained parameters. [trainer]
class Optimization {
 public:
  /// Gives every trained parameter memory and its first value, lets `fill` put others into a model, and attaches the
  /// optimizers. The networks are built.
  Optimization(const Components& components, uint64_t seed, at::TensorOptions options,
               const std::function<void(const core::Node&)>& fill);

  /// From now on only these optimizers' parameters take gradients, and all that follows is about them. At first all are
  /// meant.
  void focus(const std::vector<std::string>& optimizers);

  /// Sets all gradients to zero.
  void zero_grad();

  /// Adds gradients over ranks. Nothing with one.
  void all_reduce(Collectives& ranks);

  /// Divides all gradients by `scale`, once, before anything looks at them.
  void unscale(double scale);

  /// The norm of all gradients together, as a 0-dim tensor on the device; not finite when any gradient is not.
  [[nodiscard]] at::Tensor norm() const;

  /// Scales all gradients by min(1, bound / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_ does. Reads nothing back.
  void clip(const at::Tensor& norm, double bound);

  /// For a run that the command line cuts short, before anything is scheduled: see Schedules.
  void shorten_schedules(const Progress& beginning, const UncutRun& uncut);

  /// One line about each schedule that was shortened.
  [[nodiscard]] const std::vector<std::string>& shortened_schedules() const noexcept { return schedules_.notes(); }

  /// Sets every scheduled value for this place. Also before the first step, so that a schedule that does not fit is told
  /// before anything is written.
  void schedule(const Progress& progress);

  /// Tells schedules that refer to a metric what a validation found, by log key.
  void observe(const Progress& progress, const std::map<std::string, double>& results);

  /// Asks the schedules, then lets every optimizer update its parameters. `found_inf` may be undefined.
  void step(const Progress& progress, const at::Tensor& found_inf);

  /// "train.lr.opt" and the other scheduled values of the first group of each optimizer, as of the last step.
  [[nodiscard]] std::vector<std::pair<std::string, double>> logged() const;

 private:
  struct Trained {
    const core::Node* node;
    bool active = true;
    std::vector<ParamGroup> groups;
    std::vector<std::vector<double>> configured;  // by group, by hyper: what schedules multiply
  };

  /// Calls `visit` with every group of the optimizers in focus.
  template <class Visit>
  void visit_groups(const Visit& visit) const {
    for (const auto& trained : trained_) {
      if (!trained->active) continue;
      for (ParamGroup& group : trained->groups) visit(group);
    }
  }

  const Components& components_;
  Schedules schedules_;
  std::vector<std::unique_ptr<Trained>> trained_;  // ParamGroup addresses are handed out: never moved
};

}  // namespace tenon::engine
