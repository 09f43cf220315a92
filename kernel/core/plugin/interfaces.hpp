// The component kinds that this kernel knows, with the revision of each interface.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tenon::core {

struct InterfaceInfo {
  std::string_view kind;       ///< "dataset"
  std::string_view interface;  ///< "tenon.dataset"
  uint32_t revision = 1;       ///< The one revision that plugins must have been built for.
};

/// All kinds, in the order in which lists show them.
[[nodiscard]] std::span<const InterfaceInfo> interfaces() noexcept;

/// The kind of that name, or nullptr.
[[nodiscard]] const InterfaceInfo* find_interface(std::string_view kind) noexcept;

}  // namespace tenon::core
