// The script for bash, 4.4 or later; it needs no package for completion.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <host/completion.hpp>

namespace tenon::host {
namespace {

/// What a table of the script says of a value: words, and ":files" and the like for what bash finds itself.
std::string spelt(const Completion& completion) {
  std::vector<std::string> all = completion.words;
  if (completion.files) all.emplace_back(":files");
  if (completion.folders) all.emplace_back(":folders");
  if (completion.components) all.emplace_back(":components");
  return fmt::format("{}", fmt::join(all, " "));
}

std::string words_case(std::string_view family) {
  std::vector<std::string> words;
  for (NextWord& next : next_words(family)) words.push_back(std::move(next.word));
  if (family.empty()) words.insert(words.end(), {"--help", "--version"});
  return fmt::format("    '{}') REPLY='{}' ;;\n", family, fmt::join(words, " "));
}

/// Functions of the script that answer from the tables.
std::string tables() {
  std::string words = words_case("");
  for (const std::string& name : family_names()) words += words_case(name);
  std::string options;
  std::string values;
  std::string operands;
  for (const Command* const command : completed_commands()) {
    std::vector<std::string> names;
    for (const Option& option : options_of(*command)) {
      names.push_back(fmt::format("--{}", option.name));
      if (option.value.empty()) continue;
      values += fmt::format("    '{} --{}') REPLY='{}' ;;\n", command->name, option.name, spelt(completion_of(option)));
    }
    options += fmt::format("    '{}') REPLY='{}' ;;\n", command->name, fmt::join(names, " "));
    std::size_t place = 0;
    for (const Operand& operand : command->operands) {
      const std::string number = operand.arity == Arity::kMany ? "*" : fmt::format("{}", place++);
      const std::string found = spelt(completion_of(operand));
      if (!found.empty()) operands += fmt::format("    '{} '{}) REPLY='{}' ;;\n", command->name, number, found);
    }
  }
  return fmt::format(R"(# What may follow "tenon" ('') or a family of commands.
_tenon_words() {{
  case $1 in
{}    *) return 1 ;;
  esac
}}

# All options of a command.
_tenon_options() {{
  case $1 in
{}    *) return 1 ;;
  esac
}}

# COMMAND OPTION: what its value may be; fails for a switch.
_tenon_value() {{
  case "$1 $2" in
{}    *) return 1 ;;
  esac
}}

# COMMAND PLACE: what the argument there may be, counted from 0.
_tenon_operand() {{
  case "$1 $2" in
{}    *) return 1 ;;
  esac
}}
)",
                     words, options, values, operands);
}

constexpr std::string_view kBegin = R"(# bash completion for tenon, made by `tenon completion bash`.
# For one session: source <(tenon completion bash)

)";

constexpr std::string_view kEnd = R"(
# SPEC PREFIX: adds to COMPREPLY what begins with the prefix. Words of a spec that begin with ":" are found by asking.
_tenon_offer() {
  local word found
  for word in $1; do
    case $word in
      :files)
        compopt -o filenames 2>/dev/null
        while IFS= read -r found; do COMPREPLY+=("$found"); done < <(compgen -f -- "$2")
        ;;
      :folders)
        compopt -o filenames 2>/dev/null
        while IFS= read -r found; do COMPREPLY+=("$found"); done < <(compgen -d -- "$2")
        ;;
      :components)
        while IFS= read -r found; do
          [[ $found == "$2"* || ${found#*:} == "$2"* ]] && COMPREPLY+=("$found")
        done < <("${COMP_WORDS[0]}" completion components 2>/dev/null)
        ;;
      *) [[ $word == "$2"* ]] && COMPREPLY+=("$word") ;;
    esac
  done
}

_tenon() {
  local REPLY command place=0 i words=() glue='' word
  COMPREPLY=()
  # bash splits words at ":" and "=": they are put together again.
  for ((i = 1; i <= COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $glue || $word == [:=]* ]] && ((${#words[@]} > 0)); then
      words[-1]+=$word
    else
      words+=("$word")
    fi
    glue=''
    [[ $word == *[:=] ]] && glue=1
  done
  local last=$((${#words[@]} - 1))
  local current=${words[last]}

  i=1
  command=${words[0]}
  if ((last == 0)); then
    _tenon_words '' && _tenon_offer "$REPLY" "$current"
    return
  fi
  if _tenon_words "$command" && [[ $command ]]; then
    if ((last == 1)); then
      _tenon_offer "$REPLY" "$current"
      return
    fi
    command+=" ${words[1]}"
    i=2
  fi
  _tenon_options "$command" || return
  local options=$REPLY open='' only=''
  for (( ; i < last; ++i)); do
    word=${words[i]}
    if [[ $open ]]; then
      open=''
    elif [[ $only ]]; then
      ((++place))
    elif [[ $word == -- ]]; then
      only=1
    elif [[ $word == --*=* ]]; then
      :
    elif [[ $word == --* ]]; then
      _tenon_value "$command" "$word" && open=$word
    else
      ((++place))
    fi
  done

  local value=$current
  if [[ $open ]]; then
    _tenon_value "$command" "$open" && _tenon_offer "$REPLY" "$current"
  elif [[ ! $only && $current == --*=* ]]; then
    value=${current#*=}
    _tenon_value "$command" "${current%%=*}" && _tenon_offer "$REPLY" "$value"
  elif [[ ! $only && $current == -* ]]; then
    _tenon_offer "$options" "$current"
  elif _tenon_operand "$command" "$place"; then
    _tenon_offer "$REPLY" "$current"
  elif [[ ! $only ]]; then
    _tenon_offer "$options" "$current"
  fi
  # What bash takes for the word begins behind the last of the characters at which it splits.
  if [[ $value == *:* && $COMP_WORDBREAKS == *:* ]]; then
    local before=${value%"${value##*:}"}
    for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$before"}; done
  fi
}

complete -F _tenon tenon
)";

}  // namespace

std::string bash_completion() { return fmt::format("{}{}{}", kBegin, tables(), kEnd); }

}  // namespace tenon::host
