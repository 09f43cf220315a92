// One sample on its way through the stages of a stream.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <tenon/array.hpp>

namespace tenon {

/// The fields of one sample as the stage that runs now sees them. Belongs to the engine; valid during one call.
class Sample {
 public:
  /// The value of a field of the stage's input, by its position in the input's spec or by name. Read-only memory.
  /// \throws Error (kData) for a field that is not there, listing those that are.
  [[nodiscard]] virtual Array at(int field) const = 0;
  [[nodiscard]] virtual Array at(std::string_view name) const = 0;

  /// Uninitialised memory for a field of the stage's output, by its position in the output's spec or by name; it
  /// becomes the field's value when the stage returns. In the last stage this is the sample's own place in the batch.
  /// \throws Error (kData) when dtype or shape contradict the stage's spec.
  [[nodiscard]] virtual Array allocate(int field, Dtype dtype, std::span<const int64_t> shape) = 0;
  [[nodiscard]] virtual Array allocate(std::string_view name, Dtype dtype, std::span<const int64_t> shape) = 0;

 protected:
  ~Sample() = default;
};

}  // namespace tenon
