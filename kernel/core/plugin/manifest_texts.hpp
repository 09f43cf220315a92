// What the texts of a manifest may be.
#pragma once

#include <string_view>

namespace tenon::core {

/// A reverse domain name, as tenon_add_plugin demands it: "org.example.cutout".
[[nodiscard]] bool is_plugin_id(std::string_view id);

/// "1.0.0"
[[nodiscard]] bool is_version(std::string_view version);

/// Lower-case letters, digits and "_", with a letter first.
[[nodiscard]] bool is_component_name(std::string_view name);

/// Anything that would move a terminal's cursor or change its colours: C0 but for line ends and tabs, DEL, C1 in UTF-8.
[[nodiscard]] bool has_control_characters(std::string_view text);

}  // namespace tenon::core
