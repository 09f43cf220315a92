// Metrics over one pass of a path.
#pragma once

#include <map>
#include <string>

#include <ATen/core/Generator.h>

#include <engine/agreement.hpp>
#include <engine/feed.hpp>
#include <engine/step_graph.hpp>
#include <tenon/components/precision.hpp>

namespace tenon::engine {

/// Runs paths in evaluation and without gradients, in the precision of training. Changes neither modules nor
/// generators. [trainer]
class Evaluator {
 public:
  /// All outlive it.
  Evaluator(const Components& components, Collectives& ranks, const Precision& precision, const InterruptionPoll& poll,
            at::Generator generator)
      : components_(components), ranks_(ranks), precision_(precision), poll_(poll), generator_(std::move(generator)) {}

  /// Takes all of the feed's stream through its path and computes the metrics. Keys are log keys: PREFIX.NODE for a
  /// metric's first value, PREFIX.NODE.OUTPUT for the others. \throws PlacedError, Interrupted.
  [[nodiscard]] std::map<std::string, double> measure(Feed& feed, const std::string& prefix) const;

 private:
  void update(const StepGraph& graph, const core::Path& path, DeviceBatch batch) const;
  /// The inputs of a metric, in the units of the data where they were rescaled.
  [[nodiscard]] Tensors on_data_scale(const StepGraph& graph, const core::Path& path, const core::Node& node,
                                      const Values& values) const;
  [[nodiscard]] std::map<std::string, double> compute(const core::Path& path, const std::string& prefix) const;

  const Components& components_;
  Collectives& ranks_;
  const Precision& precision_;
  const InterruptionPoll& poll_;
  at::Generator generator_;
};

}  // namespace tenon::engine
