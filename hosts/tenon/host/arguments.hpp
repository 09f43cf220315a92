// A command's arguments, taken apart and checked against what the command says it takes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <host/command.hpp>
#include <tenon/error.hpp>

namespace tenon::host {

/// A command line that is not understood (exit 2). Each message is one mistake with its fix.
class UsageError : public Error {
 public:
  UsageError(std::vector<std::string> messages, const Command* command);

  [[nodiscard]] const std::vector<std::string>& messages() const noexcept { return messages_; }

  /// The command whose synopsis helps, or nullptr.
  [[nodiscard]] const Command* command() const noexcept { return command_; }

 private:
  std::vector<std::string> messages_;
  const Command* command_;
};

/// Immutable. Option names are given without dashes.
class Arguments {
 public:
  /// Takes `tokens`, all that follows the command's name, apart. `program` is how the user called the program.
  /// \throws UsageError with all that is wrong.
  Arguments(const Command& command, std::string program, std::span<const std::string> tokens);

  [[nodiscard]] const Command& command() const noexcept { return *command_; }
  [[nodiscard]] const std::string& program() const noexcept { return program_; }

  [[nodiscard]] bool has(std::string_view option) const noexcept { return options_.contains(option); }

  /// The value of an option that can be given once; nothing where it is not given.
  [[nodiscard]] std::optional<std::string> value(std::string_view option) const;

  /// The number that an option gives, or `otherwise` without it. \throws UsageError unless it is a whole number from
  /// `least` to `most`.
  [[nodiscard]] int64_t whole_value(std::string_view option, int64_t otherwise, int64_t least, int64_t most) const;

  /// All values of a repeatable option, in order.
  [[nodiscard]] std::vector<std::string> values(std::string_view option) const;

  /// True when `--format json` is given.
  [[nodiscard]] bool json() const { return value("format") == "json"; }

  [[nodiscard]] const std::vector<std::string>& operands() const noexcept { return operands_; }

  /// The option with its values as the user could write it again: "--set vars.lr=0.001", quoted for a shell. Empty when
  /// it is not given.
  [[nodiscard]] std::string again(std::string_view option) const;

 private:
  void check_options(std::span<const std::string> unknown, std::vector<std::string>& mistakes) const;
  void check_operands(std::vector<std::string>& mistakes) const;

  const Command* command_;
  std::string program_;
  std::map<std::string, std::vector<std::string>, std::less<>> options_;
  std::vector<std::string> operands_;
};

/// The number that the whole text spells, in decimal digits with or without a minus; nothing for another text.
[[nodiscard]] std::optional<int64_t> whole_number(std::string_view text) noexcept;

/// The text as one word of a POSIX shell.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace tenon::host
