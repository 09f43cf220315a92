// The script for zsh, over its own _arguments.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <host/completion.hpp>

namespace tenon::host {
namespace {

/// As one word of the script.
std::string word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// The action of _arguments that finds values. One that begins with a blank is called as it stands.
std::string action(const Completion& completion) {
  std::vector<std::string> ways;
  if (!completion.words.empty()) ways.push_back(fmt::format("({})", fmt::join(completion.words, " ")));
  if (completion.components) ways.emplace_back(" _tenon_components");
  if (completion.files) ways.emplace_back("_files");
  if (completion.folders) ways.emplace_back("_files -/");
  if (ways.empty()) return " ";
  if (ways.size() == 1) return ways.front();
  // Words and one way more: both are offered.
  return fmt::format(" _tenon_either {} {}", fmt::join(completion.words, "+"), ways.back());
}

std::string option_word(const Option& option) {
  const std::string text = escaped(first_line(option.help), "[]:\\");
  const std::string_view again = option.repeatable ? "*" : "";
  if (option.value.empty()) return word(fmt::format("{}--{}[{}]", again, option.name, text));
  return word(fmt::format("{}--{}=[{}]:{}:{}", again, option.name, text, escaped(option.value, ":\\"),
                          action(completion_of(option))));
}

std::string operand_word(const Operand& operand) {
  const std::string_view place = operand.arity == Arity::kMany ? "*:" : operand.arity == Arity::kOptional ? "::" : ":";
  return word(fmt::format("{}{}:{}", place, escaped(operand.name, ":\\"), action(completion_of(operand))));
}

std::string arguments_of(const Command& command) {
  std::string out = "_arguments";
  for (const Option& option : options_of(command)) out += fmt::format(" \\\n        {}", option_word(option));
  for (const Operand& operand : command.operands) out += fmt::format(" \\\n        {}", operand_word(operand));
  return out;
}

/// A function that offers next words.
std::string words_function(std::string_view family) {
  std::string out = fmt::format("_tenon_words{}{}() {{\n  local -a words=(\n", family.empty() ? "" : "_", family);
  for (const NextWord& next : next_words(family)) {
    const std::string summary =
        next.summary.empty() ? fmt::format("tenon {} --help lists its commands", next.word) : std::string(next.summary);
    out += fmt::format("    {}\n", word(fmt::format("{}:{}", next.word, escaped(summary, ":\\"))));
  }
  return out + "  )\n  _describe -t commands command words\n}\n\n";
}

constexpr std::string_view kBegin = R"zsh(#compdef tenon
# zsh completion for tenon, made by `tenon completion zsh`.
# For one session: source <(tenon completion zsh)

_tenon_components() {
  local -a names=(${(f)"$(_call_program components tenon completion components 2>/dev/null)"})
  compadd -a names
}

# WORDS ACTION…: words joined by "+", or what the action finds.
_tenon_either() {
  local -a words=(${(s:+:)1})
  shift
  compadd -a words
  "$@"
}

)zsh";

constexpr std::string_view kEnd = R"(
if [[ $funcstack[1] == _tenon ]]; then
  _tenon "$@"
elif (( $+functions[compdef] )); then
  compdef _tenon tenon
fi
)";

}  // namespace

std::string zsh_completion() {
  std::string out(kBegin);
  out += words_function("");
  std::string cases;
  for (const Command* const command : completed_commands()) {
    if (command->name.find(' ') != std::string_view::npos) continue;
    cases += fmt::format("    {})\n      {}\n      ;;\n", command->name, arguments_of(*command));
  }
  for (const std::string& name : family_names()) {
    out += words_function(name);
    cases += fmt::format(
        "    {})\n      _arguments -C '1: :_tenon_words_{}' '*:: :->second' && return\n      case $words[1] in\n", name,
        name);
    for (const NextWord& next : next_words(name)) {
      const Command* const command = find_command(fmt::format("{} {}", name, next.word));
      cases += fmt::format("        {})\n      {}\n      ;;\n", next.word, arguments_of(*command));
    }
    cases += "      esac\n      ;;\n";
  }
  out += fmt::format(R"(_tenon() {{
  local curcontext=$curcontext state state_descr line
  typeset -A opt_args
  _arguments -C '(- *)--help[all commands]' '(- *)--version[which build this is]' '1: :_tenon_words' '*:: :->first' && return
  case $words[1] in
{}  esac
}}
)",
                     cases);
  return out + std::string(kEnd);
}

}  // namespace tenon::host
