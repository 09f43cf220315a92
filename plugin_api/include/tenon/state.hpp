// Saving and restoring a component: one function for both ways, so that they cannot drift apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tenon/array.hpp>

namespace tenon {

/// Visits every value that a component must keep over a restart. While saving, each call reads the value; while
/// restoring, it overwrites it. Names are unique within the component and stable over versions; "/" groups them.
/// Restoring a name that was never saved, or one of another type, throws Error (kCheckpoint) naming it.
/// Called on the trainer thread, between steps.
class StateIo {
 public:
  virtual ~StateIo() = default;

  [[nodiscard]] virtual bool saving() const noexcept = 0;

  virtual void io(std::string_view name, bool& value) = 0;
  virtual void io(std::string_view name, int64_t& value) = 0;
  virtual void io(std::string_view name, double& value) = 0;
  virtual void io(std::string_view name, std::string& value) = 0;

  /// Saving: the array is copied before the call returns. Restoring: `value` becomes a view of memory that this object
  /// owns and that lives as long as it does; copy out of it. Tensors: `nn::io` in tenon/nn/state.hpp.
  virtual void io(std::string_view name, Array& value) = 0;
};

}  // namespace tenon
