// Optimizers: update groups of parameters from their gradients.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include <tenon/component.hpp>

namespace tenon {

/// A value that a schedule may drive: as a 0-dim float64 tensor on the parameters' device, and as a number on the host.
/// The engine writes both before each step.
struct Hyper {
  std::string name;
  at::Tensor tensor;
  double value = 0;
};

/// Parameters that share values such as the rate. All tensors belong to the engine, stay the same objects for the life
/// of the run, and are written in place.
struct ParamGroup {
  std::vector<std::string> names;  ///< Full names, "net.conv1.weight"; sorted by registration.
  std::vector<at::Tensor> params;  ///< Views of flat_param.
  std::vector<at::Tensor> grads;   ///< Views of flat_grad, in the same order.
  at::Tensor flat_param;           ///< All of them in one buffer, each start aligned to 64 bytes; gaps hold zeros.
  at::Tensor flat_grad;
  std::vector<Hyper> hypers;  ///< The component's schedulable parameters, in the order of declaration.

  /// \throws Error (kPlugin) for a name that is not schedulable.
  [[nodiscard]] const Hyper& hyper(std::string_view name) const;

  /// A view of `flat` where parameter `index` lies in flat_param, in its shape: how state kept in one buffer gets a
  /// name.
  [[nodiscard]] at::Tensor view_like(const at::Tensor& flat, std::size_t index) const;
};

/// What the engine found about this step's gradients. An undefined tensor stands for "nothing to do".
struct Update {
  at::Tensor found_inf;   ///< float32 0-dim: not 0 means that the step must leave no trace (ability device_skip).
  at::Tensor grad_scale;  ///< float32 0-dim: what gradients still have to be divided by.
};

class Optimizer : public Component {
 public:
  static constexpr const char* kInterface = "tenon.optimizer";
  static constexpr uint32_t kRevision = 1;

  /// Ability of an optimizer that obeys Update::found_inf by itself, without a read of it on the host.
  static constexpr const char* kDeviceSkip = "tenon.device_skip/1";

  /// Once, before the first step; makes the state. `groups` live as long as the optimizer is used. [trainer]
  virtual void attach(std::span<const ParamGroup> groups) = 0;

  /// Updates all parameters in place from gradients that are reduced, unscaled and clipped. No autograd is recorded.
  /// State by parameter name goes through state(io), as "exp_avg/net.conv1.weight". [trainer]
  virtual void step(const Update& update) = 0;
};

}  // namespace tenon
