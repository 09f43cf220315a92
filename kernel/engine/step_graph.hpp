// Runs the step plane of one path: models, losses and metrics, each behind its sources.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <engine/components.hpp>
#include <tenon/components/loss.hpp>
#include <tenon/components/precision.hpp>
#include <tenon/step.hpp>
#include <tenon/tensors.hpp>

namespace tenon::engine {

/// The outputs of the nodes that ran, by node; the batch is under "batch".
using Values = std::map<std::string, Tensors, std::less<>>;

/// The step plane of one path, over opened components. [trainer]
class StepGraph {
 public:
  /// Without a `precision` forward runs in the types of its inputs.
  StepGraph(const Components& components, const core::Path& path, const Precision* precision = nullptr);

  /// Runs all models, in order, under the precision's autocast. `key` stands for (seed, step, micro-batch, rank); each model's randomness is keyed by
  /// its name besides. \throws PlacedError naming the model, its inputs and its module.
  [[nodiscard]] Values forward(Tensors batch, Collectives& ranks, int64_t micro_batch, bool training, uint64_t key,
                               const at::Generator& generator) const;

  /// The inputs of a node by port, taken from what ran before it.
  [[nodiscard]] static Tensors inputs(const core::Node& node, const Values& values);

  /// Likewise for a loss or a metric, which run without autocast: floating tensors in the precision's storage type.
  [[nodiscard]] Tensors measured_inputs(const core::Node& node, const Values& values) const;

  /// The inputs that are fields of the batch alone.
  [[nodiscard]] static Tensors batch_inputs(const core::Node& node, const Tensors& batch);

  /// Runs one model on inputs by port. \throws what it throws; PlacedError (kConfig) where its inputs have other sizes
  /// than its network was built for, as another path's data may give them. [trainer]
  [[nodiscard]] Tensors run_model(const core::Node& node, const Tensors& in, StepContext& context) const;

  /// "image float32[64, 1, 8, 8] from batch.image": how errors describe what a node was given.
  [[nodiscard]] static std::string describe_inputs(const core::Node& node, const Values& values);

 private:
  void refuse_other_sizes(const core::Node& node, const Tensors& in) const;

  const Components& components_;
  const Precision* precision_;
  std::string path_;
  std::string data_;
  std::vector<const core::Node*> models_;
};

/// The weight of a micro-batch of `samples` for one loss: a loss that leaves it undefined counts samples. [trainer]
[[nodiscard]] at::Tensor loss_weight(Loss& loss, const core::Node& node, const Tensors& batch, int64_t samples);

/// "float32[64, 10]"
[[nodiscard]] std::string describe(const at::Tensor& tensor);

}  // namespace tenon::engine
