// The script for fish, 3.0 or later.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <host/completion.hpp>

namespace tenon::host {
namespace {

std::string quoted_word(std::string_view text) { return fmt::format("'{}'", escaped(text, "'\\")); }

/// The switches of `complete` that find a value.
std::string ways(const Completion& completion) {
  std::string out = completion.files || completion.folders ? " -F" : " -f";
  if (completion.folders && !completion.files) out = " -f -a '(__fish_complete_directories)'";
  if (!completion.words.empty())
    out += fmt::format(" -a {}", quoted_word(fmt::format("{}", fmt::join(completion.words, " "))));
  if (completion.components) out += " -a '(tenon completion components 2>/dev/null)'";
  return out;
}

std::string lines_of(const Command& command) {
  const std::string when = fmt::format("complete -c tenon -n '__tenon_is {}'", command.name);
  std::string out;
  for (const Option& option : options_of(command)) {
    out += fmt::format("{} -l {}{} -d {}\n", when, option.name,
                       option.value.empty() ? "" : " -r" + ways(completion_of(option)),
                       quoted_word(first_line(option.help)));
  }
  for (const Operand& operand : command.operands) {
    const Completion completion = completion_of(operand);
    if (!completion.empty()) out += fmt::format("{}{}\n", when, ways(completion));
  }
  return out;
}

constexpr std::string_view kBegin = R"(# fish completion for tenon, made by `tenon completion fish`.
# For one session: tenon completion fish | source

# WORDS…: whether these are all words behind "tenon" so far.
function __tenon_after
    set -l words (commandline -opc)
    set -e words[1]
    test "$words" = "$argv"
end

# WORDS…: whether the words behind "tenon" begin with these, a command.
function __tenon_is
    set -l words (commandline -opc)
    set -l last (math 1 + (count $argv))
    test (count $words) -ge $last; or return 1
    test "$words[2..$last]" = "$argv"
end

complete -c tenon -f
complete -c tenon -n __tenon_after -l help -d 'all commands'
complete -c tenon -n __tenon_after -l version -d 'which build this is'
)";

}  // namespace

std::string fish_completion() {
  std::string out(kBegin);
  const auto add_words = [&](std::string_view family) {
    for (const NextWord& next : next_words(family)) {
      out += fmt::format("complete -c tenon -n '__tenon_after{}{}' -a {} -d {}\n", family.empty() ? "" : " ", family,
                         next.word, quoted_word(next.summary));
    }
  };
  add_words("");
  for (const std::string& name : family_names()) add_words(name);
  for (const Command* const command : completed_commands()) out += lines_of(*command);
  return out;
}

}  // namespace tenon::host
