// Ability of datasets that are made of others: they learn their inputs' fields before they tell their own.
#pragma once

#include <span>

#include <tenon/spec.hpp>

namespace tenon {

/// A dataset whose fields depend on those of the datasets that its node's `in` names, such as a part of one.
class Derived {
 public:
  static constexpr const char* kAbility = "tenon.derived/1";

  /// The fields of each input, in the order of `in`. Once, after construction and before spec().
  /// \throws Error (kConfig) when they, or their number, do not suit. [trainer]
  virtual void derive(std::span<const Spec> inputs) = 0;

 protected:
  ~Derived() = default;
};

}  // namespace tenon
