// Models: named tensors in, named tensors out.
#pragma once

#include <cstdint>

#include <tenon/component.hpp>
#include <tenon/nn/module.hpp>
#include <tenon/spec.hpp>

namespace tenon {

/// Life: construction, build() once, then root() as often as wanted. Built on the meta device; the engine gives the
/// parameters memory and initial or restored values afterwards.
class Model : public Component {
 public:
  static constexpr const char* kInterface = "tenon.model";
  static constexpr uint32_t kRevision = 1;

  /// Makes the network for inputs of these types and shapes: one field for each wired input port, batch axis included
  /// and unknown. \throws Error (kConfig) when the parameters do not fit the inputs, naming both. [trainer]
  virtual void build(const Spec& in) = 0;

  /// The network, after build(). Takes tensors by input port and gives tensors by output port. [trainer]
  [[nodiscard]] virtual nn::Module& root() = 0;
};

}  // namespace tenon
