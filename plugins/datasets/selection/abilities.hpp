// Abilities of datasets that other datasets are made of.
#pragma once

#include <tenon/component.hpp>

namespace tenon::datasets {

/// The ability, or nullptr; it belongs to the component.
template <class Ability>
[[nodiscard]] Ability* ability_of(Component& component) noexcept {
  return static_cast<Ability*>(component.ability(Ability::kAbility));
}

}  // namespace tenon::datasets
