// Ability of a component that has components of its own: those that its parameters name.
//
//   struct SometimesParams {
//     Nested inner;
//     TENON_PARAMS(SometimesParams,
//                  field(&SometimesParams::inner, "inner", "What is done").component("transform").required())
//   };
//
//   class Sometimes final : public Transform, public Nesting {
//     void adopt(std::string_view /*pointer*/, Component& inner) override { inner_ = &static_cast<Transform&>(inner); }
//     void state(StateIo& io) override { InnerState(io, "inner").visit(*inner_); }
//   };
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <tenon/component.hpp>
#include <tenon/error.hpp>
#include <tenon/state.hpp>

namespace tenon {

/// Ability of a component whose parameters hold Nested, list of Nested, or optional ones. The host makes the components
/// that they name and keeps them; the outer one calls them. A class that has it lists kAbility in
/// `static std::vector<std::string> abilities()` and returns its Nesting from ability().
///
/// The outer component answers for its inner ones, which no other part of the host knows of: their specs, shapes and
/// ports lie behind its own, its traits ("random", "data_dependent") must hold for them too, and so must its thread
/// tags. What they keep over a restart is saved only if its own `state` visits it: see InnerState. An error of theirs
/// that blames a parameter passes through blaming_inner, so that it is told at its place.
class Nesting {
 public:
  static constexpr const char* kAbility = "tenon.nesting/1";

  /// Hands over one inner component. Called once for each in the parameters, those of a list in its order, right after
  /// construction and before any other call. `pointer` is its place below `with`, such as "/inner" or "/stages/0". The
  /// component is of the kind that the parameter declares, so a static_cast to that interface holds; it has its own
  /// inner components already. The host owns it and destroys it after the outer one. As in construction no I/O is done,
  /// and no device or thread touched.
  /// \throws Error (kConfig) when this one cannot be taken, with the pointer of the parameter to blame. [trainer]
  virtual void adopt(std::string_view pointer, Component& inner) = 0;

 protected:
  ~Nesting() = default;
};

/// Calls what calls an inner component. `pointer` is what adopt() was given for it.
/// \throws Error of the inner component, its parameter named from the outer one: "/field" is "/inner/with/field".
template <class Call>
decltype(auto) blaming_inner(std::string_view pointer, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (const Error& error) {
    if (error.pointer().empty()) throw;
    throw Error(error.code(), error.what(), std::string(pointer) + "/with" + error.pointer());
  }
}

/// The state of an inner component within that of its outer one: every name gets "<prefix>/" before it. Lives during
/// one call of the outer component's `state`. [trainer]
class InnerState final : public StateIo {
 public:
  /// `prefix` sets an inner component apart from its siblings and from the outer one's own names: "inner", "stages/0".
  InnerState(StateIo& outer, std::string_view prefix) : outer_(outer), prefix_(std::string(prefix) + "/") {}

  void visit(Component& inner) { inner.state(*this); }

  [[nodiscard]] bool saving() const noexcept override { return outer_.saving(); }
  void io(std::string_view name, bool& value) override { outer_.io(below(name), value); }
  void io(std::string_view name, int64_t& value) override { outer_.io(below(name), value); }
  void io(std::string_view name, double& value) override { outer_.io(below(name), value); }
  void io(std::string_view name, std::string& value) override { outer_.io(below(name), value); }
  void io(std::string_view name, Array& value) override { outer_.io(below(name), value); }

 private:
  [[nodiscard]] std::string below(std::string_view name) const { return prefix_ + std::string(name); }

  StateIo& outer_;
  std::string prefix_;
};

}  // namespace tenon
