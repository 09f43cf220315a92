// The program's own words: overview, help of a command or of a family of commands.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <host/command.hpp>
#include <host/console.hpp>

namespace tenon::host {

/// What `tenon help` prints: all commands but the plumbing. Lines of 100 columns, or of the terminal's where it has fewer;
/// so below.
[[nodiscard]] std::string overview(const Console& console);

/// What `tenon COMMAND --help` prints.
[[nodiscard]] std::string command_help(const Command& command, const Console& console);

/// What `tenon plugins --help` prints: the members of the family.
[[nodiscard]] std::string family_help(std::string_view name, const Console& console);

/// "tenon check PIPE [--overlay FILE]… [--format text|json]"
[[nodiscard]] std::string synopsis(const Command& command);

/// Members of a family such as "plugins"; empty where there is none of that name.
[[nodiscard]] std::vector<const Command*> family(std::string_view name);

/// Finds the command that `words` begin with, and counts its words in `used`. Nullptr for a family's bare name, with
/// `used` = 1, and for no words. \throws UsageError for anything else, with a suggestion.
[[nodiscard]] const Command* match_command(std::span<const std::string> words, std::size_t& used);

}  // namespace tenon::host
