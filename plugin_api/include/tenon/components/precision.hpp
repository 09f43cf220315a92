// Precision policies: what forward runs in, and the scale of the loss.
#pragma once

#include <cstdint>
#include <optional>

#include <ATen/core/Tensor.h>

#include <tenon/component.hpp>

namespace tenon {

/// Owns nothing but the state of its scale.
class Precision : public Component {
 public:
  static constexpr const char* kInterface = "tenon.precision";
  static constexpr uint32_t kRevision = 1;

  /// The type that parameters and floating inputs are kept in. [trainer]
  [[nodiscard]] virtual at::ScalarType storage() const { return at::kFloat; }

  /// The type of autocast in forward, or nothing for none. [trainer]
  [[nodiscard]] virtual std::optional<at::ScalarType> autocast() const = 0;

  /// What the loss is multiplied by before backward; gradients are divided by it once, before they are clipped.
  /// [trainer]
  [[nodiscard]] virtual double scale() const = 0;

  /// Told after each attempted step whether all gradients were finite. [trainer]
  virtual void update(bool finite) = 0;
};

}  // namespace tenon
