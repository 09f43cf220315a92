// Completion scripts for shells, made of the tables that help and parsing use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <host/command.hpp>

namespace tenon::host {

/// What may stand in an argument's place, as far as what it is called tells: "text|json", "FILE", "auto|PATH".
struct Completion {
  std::vector<std::string> words;  ///< These words.
  bool files = false;
  bool folders = false;
  bool components = false;  ///< "kind:name" of what is installed: the scripts ask the program.

  [[nodiscard]] bool empty() const noexcept { return words.empty() && !files && !folders && !components; }
};

[[nodiscard]] Completion completion_of(const Option& option);
[[nodiscard]] Completion completion_of(const Operand& operand);

/// A command and those of its family: words that can follow "tenon" or "tenon plugins".
struct NextWord {
  std::string word;
  std::string_view summary;  ///< Empty for a family.
};

/// First words (""), or second words of a family; without the plumbing.
[[nodiscard]] std::vector<NextWord> next_words(std::string_view of);

/// Names of the families: "plugins", "verify".
[[nodiscard]] std::vector<std::string> family_names();

/// Commands that are completed: all but the plumbing.
[[nodiscard]] std::vector<const Command*> completed_commands();

/// All options of a command, its own first.
[[nodiscard]] std::vector<Option> options_of(const Command& command);

/// The text with every character that `special` holds behind a backslash.
[[nodiscard]] std::string escaped(std::string_view text, std::string_view special);

/// First line of an option's help, for lists.
[[nodiscard]] std::string_view first_line(std::string_view text) noexcept;

[[nodiscard]] std::string bash_completion();
[[nodiscard]] std::string zsh_completion();
[[nodiscard]] std::string fish_completion();

}  // namespace tenon::host
