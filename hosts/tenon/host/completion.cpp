// What the three scripts have in common.
#include <host/completion.hpp>

#include <algorithm>
#include <array>

#include <host/help.hpp>
#include <host/plugin_templates.hpp>
#include <host/templates.hpp>

namespace tenon::host {
namespace {

constexpr std::array<std::string_view, 10> kFiles{"PIPE", "FILE", "PATH",     "RUN",   "CKPT",
                                                  "A",    "B",    "INCIDENT", "INPUT", "LOG"};
constexpr std::array<std::string_view, 2> kComponents{"COMPONENT", "EXPORTER"};

template <std::size_t size>
bool holds(const std::array<std::string_view, size>& all, std::string_view word) {
  return std::find(all.begin(), all.end(), word) != all.end();
}

void add(Completion& completion, std::string_view word) {
  const bool placeholder = std::any_of(word.begin(), word.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  if (!placeholder) {
    completion.words.emplace_back(word);
  } else if (holds(kFiles, word)) {
    completion.files = true;
  } else if (word == "DIR") {
    completion.folders = true;
  } else if (holds(kComponents, word)) {
    completion.components = true;
  } else if (word == "TEMPLATE") {
    for (const Template& each : templates()) completion.words.emplace_back(each.name);
  } else if (word == "KIND") {
    for (const PluginKind& each : plugin_kinds()) completion.words.emplace_back(each.name);
  } else if (word == "SHELL") {
    completion.words = {"bash", "fish", "zsh"};
  } else if (word == "COMMAND") {
    for (const NextWord& next : next_words("")) completion.words.push_back(next.word);
  }
}

Completion completion_of_name(std::string_view name) {
  Completion completion;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('|'), name.size());
    if (end > 0) add(completion, name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return completion;
}

}  // namespace

Completion completion_of(const Option& option) { return completion_of_name(option.value); }

Completion completion_of(const Operand& operand) {
  if (operand.fresh) return {};
  // What is shown by its name is a component; the name of an option's value may be any.
  return completion_of_name(operand.name == "NAME" ? "COMPONENT" : operand.name);
}

std::vector<const Command*> completed_commands() {
  std::vector<const Command*> completed;
  for (const Command* const command : commands()) {
    if (command->group != Group::kPlumbing) completed.push_back(command);
  }
  return completed;
}

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const Command* const command : completed_commands()) {
    const std::size_t blank = command->name.find(' ');
    if (blank == std::string_view::npos) continue;
    std::string name(command->name.substr(0, blank));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

std::vector<NextWord> next_words(std::string_view of) {
  std::vector<NextWord> words;
  if (!of.empty()) {
    for (const Command* const command : family(of)) {
      if (command->group != Group::kPlumbing) {
        words.push_back({std::string(command->name.substr(of.size() + 1)), command->summary});
      }
    }
    return words;
  }
  for (const Command* const command : completed_commands()) {
    if (command->name.find(' ') == std::string_view::npos) {
      words.push_back({std::string(command->name), command->summary});
    }
  }
  for (std::string& name : family_names()) words.push_back({std::move(name), {}});
  return words;
}

std::vector<Option> options_of(const Command& command) {
  std::vector<Option> options(command.options.begin(), command.options.end());
  options.insert(options.end(), common_options().begin(), common_options().end());
  return options;
}

std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string_view first_line(std::string_view text) noexcept { return text.substr(0, text.find('\n')); }

}  // namespace tenon::host
