// Losses: a sum over samples and, apart from it, the weight to divide by.
#pragma once

#include <cstdint>

#include <tenon/component.hpp>
#include <tenon/step.hpp>
#include <tenon/tensors.hpp>

namespace tenon {

/// The engine adds weights over micro-batches and ranks before the first forward pass and divides once, so that the
/// gradient is that of one large batch. A loss never divides. Floating tensors come in the precision policy's storage
/// type, outside of autocast. Before the first step sum() is called on meta tensors, which have shapes and no values.
class Loss : public Component {
 public:
  static constexpr const char* kInterface = "tenon.loss";
  static constexpr uint32_t kRevision = 1;

  /// The weight of this micro-batch: a 0-dim tensor, such as the number of samples that count, or an undefined tensor,
  /// which stands for the number of samples in the micro-batch. Gets only the ports that are wired to fields of the batch.
  /// [trainer]
  [[nodiscard]] virtual at::Tensor weight(const Tensors& batch_in) = 0;

  /// The sum over the micro-batch: a 0-dim floating tensor that gradients flow through. [trainer]
  [[nodiscard]] virtual at::Tensor sum(const Tensors& in, StepContext& context) = 0;
};

}  // namespace tenon
