// Layout of help texts, and the search for the command that was meant.
#include <host/help.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/text/source.hpp>
#include <core/text/suggest.hpp>
#include <host/arguments.hpp>
#include <host/table.hpp>

namespace tenon::host {
namespace {

constexpr std::size_t kWidth = 100;  // Help has the same lines wherever they fit.

std::size_t width_on(const Console& console) {
  const std::size_t columns = console.width();
  return columns == 0 ? kWidth : std::min(columns, kWidth);
}

std::string_view title(Group group) {
  switch (group) {
    case Group::kTrain: return "Train";
    case Group::kUnderstand: return "Understand and prove";
    case Group::kComponents: return "Components";
    case Group::kMachine: return "This machine, this program";
    case Group::kPlumbing: return "Plumbing";
  }
  return "";
}

/// "plugins" of "plugins list"; empty for a command of one word.
std::string_view family_of(const Command& command) {
  const std::size_t blank = command.name.find(' ');
  return blank == std::string_view::npos ? std::string_view() : command.name.substr(0, blank);
}

std::string term(const Option& option) {
  return option.value.empty() ? fmt::format("--{}", option.name) : fmt::format("--{} {}", option.name, option.value);
}

std::string operand_term(const Operand& operand) {
  switch (operand.arity) {
    case Arity::kOne: return std::string(operand.name);
    case Arity::kOptional: return fmt::format("[{}]", operand.name);
    case Arity::kMany: return fmt::format("[{}]…", operand.name);
  }
  return "";
}

/// A text of several lines, or of one that is wrapped where those would not fit.
void add_lines(Table& table, const std::string& first, std::string_view text, std::size_t width) {
  std::string term = first;
  if (width < kWidth) {
    std::string one(text);
    std::replace(one.begin(), one.end(), '\n', ' ');
    return table.add({term, one});
  }
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    table.add({term, std::string(text.substr(0, end))});
    if (end == text.size()) return;
    text.remove_prefix(end + 1);
    term.clear();
  }
}

std::string option_table(std::span<const Option> options, std::size_t width) {
  Table table(2);
  for (const Option& option : options) add_lines(table, term(option), option.help, width);
  return table.render(width);
}

std::string indented(std::string_view lines) {
  std::string out = "  ";
  for (const char c : lines) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out + '\n';
}

std::string all_operands(const Command& command) {
  std::string text;
  for (const Operand& operand : command.operands) text += ' ' + operand_term(operand);
  return text;
}

/// The synopsis in pieces that must not be broken.
std::vector<std::string> synopsis_pieces(const Command& command) {
  std::vector<std::string> pieces{fmt::format("tenon {}{}", command.name, all_operands(command))};
  for (const Option& option : command.options) {
    if (option.required) pieces.push_back(term(option));
  }
  for (const Option& option : command.options) {
    if (!option.required) pieces.push_back(fmt::format("[{}]{}", term(option), option.repeatable ? "…" : ""));
  }
  return pieces;
}

std::string wrapped_synopsis(const Command& command, std::size_t width) {
  std::string out;
  std::size_t used = width;
  for (const std::string& piece : synopsis_pieces(command)) {
    const std::size_t length = core::count_code_points(piece);
    if (!out.empty() && used + 1 + length <= width) {
      out += ' ' + piece;
      used += 1 + length;
      continue;
    }
    const std::string_view indent = out.empty() ? "  " : "\n      ";
    out += fmt::format("{}{}", indent, piece);
    used = indent.size() + length;
  }
  return out + '\n';
}

/// A first sentence that begins with what it is about.
std::string titled(const std::string& subject, std::string_view rest, const Console& console) {
  std::string out;
  for (const std::string& line : wrap(subject + std::string(rest), width_on(console))) {
    out += (out.empty() ? console.paint().bold(subject) + line.substr(subject.size()) : line) + '\n';
  }
  return out;
}

std::string paragraphs(std::string_view text, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    const std::string_view paragraph = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(paragraph.size() + 1, text.size()));
    out += '\n';
    for (const std::string& line : wrap(paragraph, width)) out += line + '\n';
  }
  return out;
}

}  // namespace

std::string synopsis(const Command& command) { return fmt::format("{}", fmt::join(synopsis_pieces(command), " ")); }

std::string overview(const Console& console) {
  const Paint paint = console.paint();
  const std::size_t width = width_on(console);
  std::string out =
      titled("tenon", " trains, evaluates and exports deep-learning models that a pipeline file describes.", console);
  out += paragraphs("usage: tenon COMMAND [ARGUMENT]…", width);
  out += paragraphs(
      "First steps: tenon init lists templates and writes one to a file, tenon check FILE tells what is wrong with it, "
      "tenon run FILE trains, and tenon predict RUN uses what was trained.",
      width);
  Table table(2);
  table.style(0, [&](std::string_view text) { return paint.bold(text); });
  // One table, so that all groups share their columns; titles are put between the rows afterwards.
  std::vector<Group> groups;
  for (const Command* const command : commands()) {
    if (command->group == Group::kPlumbing) continue;
    table.add({fmt::format("{}{}", command->name, all_operands(*command)), std::string(command->summary)});
    groups.push_back(command->group);
  }
  const std::string rows = table.render(width);
  std::size_t row = 0;
  for (std::size_t begin = 0; begin < rows.size();) {
    const std::size_t end = rows.find('\n', begin) + 1;
    if (rows[begin + 2] != ' ') {  // no continuation of the row above
      if (row == 0 || groups[row] != groups[row - 1]) out += fmt::format("\n{}\n", title(groups[row]));
      ++row;
    }
    out += rows.substr(begin, end - begin);
    begin = end;
  }
  out += paragraphs("tenon COMMAND --help tells all about a command; tenon --version says which build this is.", width);
  return out + paragraphs(
                   "Environment: TENON_PLUGIN_PATH (further folders with plugins, separated by colons), "
                   "TENON_LIBTORCH (another libtorch 2.11), NO_COLOR (no colours).",
                   width);
}

std::string command_help(const Command& command, const Console& console) {
  const Paint paint = console.paint();
  const std::size_t width = width_on(console);
  const auto heading = [&](std::string_view text) { return fmt::format("\n{}\n", paint.bold(text)); };
  std::string out = titled(fmt::format("tenon {}", command.name), fmt::format(": {}", command.summary), console);
  out += heading("Usage") + wrapped_synopsis(command, width) + paragraphs(command.purpose, width);
  if (!command.operands.empty()) {
    Table table(2);
    for (const Operand& operand : command.operands) add_lines(table, std::string(operand.name), operand.help, width);
    out += heading("Arguments") + table.render(width);
  }
  if (!command.options.empty()) out += heading("Options") + option_table(command.options, width);
  out += heading("Options of every command") + option_table(common_options(), width);
  out += heading("Examples") + indented(command.examples);
  Table codes(2);
  for (const ExitCode& each : command.exit_codes) add_lines(codes, fmt::format("{}", each.code), each.meaning, width);
  return out + heading("Exit codes") + codes.render(width);
}

std::string family_help(std::string_view name, const Console& console) {
  Table table(2);
  for (const Command* const command : family(name)) {
    table.add({fmt::format("tenon {}{}", command->name, all_operands(*command)), std::string(command->summary)});
  }
  return fmt::format("{} has these commands:\n\n{}\ntenon {} COMMAND --help tells all about one.\n",
                     console.paint().bold(fmt::format("tenon {}", name)), table.render(width_on(console)), name);
}

std::vector<const Command*> family(std::string_view name) {
  std::vector<const Command*> members;
  for (const Command* const command : commands()) {
    if (!name.empty() && family_of(*command) == name) members.push_back(command);
  }
  return members;
}

const Command* match_command(std::span<const std::string> words, std::size_t& used) {
  used = 0;
  if (words.empty()) return nullptr;
  used = 1;
  if (const Command* const command = find_command(words[0])) return command;

  const std::vector<const Command*> members = family(words[0]);
  if (!members.empty()) {
    if (words.size() == 1 || words[1].starts_with('-')) return nullptr;
    used = 2;
    if (const Command* const command = find_command(fmt::format("{} {}", words[0], words[1]))) return command;
    std::vector<std::string> names;
    names.reserve(members.size());
    for (const Command* const member : members) names.emplace_back(member->name.substr(words[0].size() + 1));
    const std::optional<std::string> near = core::nearest(words[1], names);
    throw UsageError({fmt::format("tenon {} has no command {}{}", words[0], core::quoted(words[1]),
                                  near ? fmt::format("; did you mean \"tenon {} {}\"?", words[0], *near) : "")},
                     nullptr);
  }

  std::vector<std::string> names{"--version", "--help"};
  for (const Command* const command : commands()) {
    const std::string_view name = family_of(*command).empty() ? command->name : family_of(*command);
    if (command->group != Group::kPlumbing) names.emplace_back(name);
  }
  const bool option = words[0].starts_with('-');
  std::string message = fmt::format("there is no {} {}", option ? "option" : "command", core::quoted(words[0]));
  std::error_code ignored;
  if (const std::optional<std::string> near = core::nearest(words[0], names)) {
    message += fmt::format("; did you mean \"tenon {}\"?", *near);
  } else if (std::filesystem::is_regular_file(words[0], ignored)) {
    message += fmt::format("; to train a pipeline: tenon run {}", shell_word(words[0]));
  }
  throw UsageError({std::move(message)}, nullptr);
}

}  // namespace tenon::host
