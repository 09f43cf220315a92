// The root of every component.
#pragma once

#include <tenon/error.hpp>
#include <tenon/state.hpp>

namespace tenon {

/// Base of all components. Construction does no I/O, touches no device and starts no thread: it may happen for checking
/// alone. The host owns a component and destroys it through its descriptor, after all that uses it.
class Component {
 public:
  Component() = default;
  Component(const Component&) = delete;
  Component& operator=(const Component&) = delete;
  virtual ~Component() = default;

  /// An optional ability by its versioned id, such as Controller::kAbility, or nullptr. The pointer belongs to the
  /// component. How an interface grows without changing its base class. [any thread]
  [[nodiscard]] virtual void* ability(const char* /*id*/) noexcept { return nullptr; }

  /// Visits all state that a restart must keep; the default has none. [trainer]
  virtual void state(StateIo& /*io*/) {}
};

}  // namespace tenon
