// Manual pages, from the same texts as --help.
#pragma once

#include <string>

#include <host/command.hpp>

namespace tenon::host {

/// "tenon-plugins-list": the page's name.
[[nodiscard]] std::string manual_name(const Command& command);

/// All about a command as roff with the macros of man(7), as `man` and mandoc read it.
[[nodiscard]] std::string manual_page(const Command& command);

/// The page of the program: its commands and what they have in common.
[[nodiscard]] std::string manual_overview();

}  // namespace tenon::host
