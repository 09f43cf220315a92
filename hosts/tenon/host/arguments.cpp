// Parsing through Boost.Program_options, and messages of our own.
#include <host/arguments.hpp>

#include <algorithm>
#include <charconv>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/value_semantic.hpp>

#include <core/text/suggest.hpp>

namespace tenon::host {
namespace {

namespace po = boost::program_options;

template <class Visit>
void each_option(const Command& command, Visit visit) {
  for (const Option& option : command.options) visit(option);
  for (const Option& option : common_options()) visit(option);
}

po::options_description describe(const Command& command) {
  po::options_description known;
  each_option(command, [&](const Option& option) {
    const std::string name(option.name);
    if (option.value.empty()) {
      known.add_options()(name.c_str(), "");
    } else {
      known.add_options()(name.c_str(), po::value<std::string>(), "");
    }
  });
  return known;
}

std::vector<std::string> choices(std::string_view value) {
  std::vector<std::string> words;
  const bool open = std::any_of(value.begin(), value.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  if (open || value.find('|') == std::string_view::npos) return words;
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find('|', begin), value.size());
    words.emplace_back(value.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::string with_suggestion(std::string message, std::string_view word, std::span<const std::string> candidates) {
  const std::string hint = core::did_you_mean(word, candidates);
  return hint.empty() ? message : fmt::format("{}; {}", message, hint);
}

/// What Boost could not take apart, in our words.
std::string describe(const po::error_with_option_name& error, const Command& command) {
  std::string name = error.get_option_name();
  name.erase(0, name.find_first_not_of('-'));
  std::string_view value = "VALUE";
  each_option(command, [&](const Option& option) {
    if (option.name == name) value = option.value;
  });
  const auto* const syntax = dynamic_cast<const po::invalid_syntax*>(&error);
  if (syntax != nullptr && syntax->kind() == po::invalid_syntax::extra_parameter) {
    return fmt::format("--{} takes no value", name);
  }
  return fmt::format("--{} needs a value: --{} {}", name, name, value);
}

}  // namespace

UsageError::UsageError(std::vector<std::string> messages, const Command* command)
    : Error(ErrorCode::kConfig, fmt::format("{}", fmt::join(messages, "; "))),
      messages_(std::move(messages)),
      command_(command) {}

Arguments::Arguments(const Command& command, std::string program, std::span<const std::string> tokens)
    : command_(&command), program_(std::move(program)) {
  // What follows "--" is taken as it stands.
  const auto end = std::find(tokens.begin(), tokens.end(), "--");
  const std::vector<std::string> before(tokens.begin(), end);
  std::vector<std::string> unknown;
  std::vector<std::string> mistakes;
  try {
    const po::options_description known = describe(command);
    using Style = po::command_line_style::style_t;
    const int style = Style::allow_long | Style::long_allow_adjacent | Style::long_allow_next;
    const po::parsed_options parsed =
        po::command_line_parser(before).options(known).style(style).allow_unregistered().run();
    for (const po::option& option : parsed.options) {
      const std::string& token = option.original_tokens.empty() ? option.string_key : option.original_tokens.front();
      if (option.unregistered || (option.position_key >= 0 && token.size() > 1 && token.front() == '-')) {
        unknown.push_back(token);
      } else if (option.position_key >= 0) {
        operands_.push_back(option.value.front());
      } else {
        auto& values = options_[option.string_key];
        values.insert(values.end(), option.value.begin(), option.value.end());
      }
    }
  } catch (const po::error_with_option_name& error) {
    throw UsageError({describe(error, command)}, &command);
  } catch (const po::error& error) {
    throw UsageError({error.what()}, &command);
  }
  if (end != tokens.end()) operands_.insert(operands_.end(), end + 1, tokens.end());

  check_options(unknown, mistakes);
  // The value of a mistyped option looks like an operand.
  if (unknown.empty()) check_operands(mistakes);
  if (!mistakes.empty()) throw UsageError(std::move(mistakes), &command);
}

void Arguments::check_options(std::span<const std::string> unknown, std::vector<std::string>& mistakes) const {
  std::vector<std::string> names;
  each_option(*command_, [&](const Option& option) { names.push_back(fmt::format("--{}", option.name)); });
  for (const std::string& token : unknown) {
    const std::string name = token.substr(0, token.find('='));
    const std::string dashed = "--" + name.substr(std::min(name.find_first_not_of('-'), name.size()));
    std::string message = fmt::format("there is no option {}", core::quoted(name));
    const bool one_dash = std::find(names.begin(), names.end(), dashed) != names.end();
    mistakes.push_back(one_dash ? fmt::format("{}; did you mean {}?", message, core::quoted(dashed))
                                : with_suggestion(std::move(message), dashed, names));
  }
  each_option(*command_, [&](const Option& option) {
    const auto given = options_.find(option.name);
    if (given == options_.end()) {
      if (option.required && unknown.empty()) {
        mistakes.push_back(fmt::format("--{} {} is missing", option.name, option.value));
      }
      return;
    }
    if (!option.repeatable && given->second.size() > 1) {
      mistakes.push_back(fmt::format("--{} is given {} times", option.name, given->second.size()));
    }
    const std::vector<std::string> words = choices(option.value);
    for (const std::string& value : given->second) {
      if (words.empty() || std::find(words.begin(), words.end(), value) != words.end()) continue;
      mistakes.push_back(with_suggestion(
          fmt::format("--{} takes {}, not {}", option.name, fmt::join(words, " or "), core::quoted(value)), value,
          words));
    }
  });
}

void Arguments::check_operands(std::vector<std::string>& mistakes) const {
  std::size_t most = 0;
  for (const Operand& operand : command_->operands) {
    if (operand.arity == Arity::kMany) return;
    if (operand.arity == Arity::kOne && operands_.size() <= most) {
      mistakes.push_back(fmt::format("{} is missing: {}", operand.name, operand.help));
    }
    ++most;
  }
  for (std::size_t i = most; i < operands_.size(); ++i) {
    mistakes.push_back(fmt::format("{} is one argument too many", core::quoted(operands_[i])));
  }
}

std::optional<std::string> Arguments::value(std::string_view option) const {
  const auto found = options_.find(option);
  if (found == options_.end() || found->second.empty()) return std::nullopt;
  return found->second.back();
}

int64_t Arguments::whole_value(std::string_view option, int64_t otherwise, int64_t least, int64_t most) const {
  const std::optional<std::string> text = value(option);
  if (!text) return otherwise;
  const std::optional<int64_t> number = whole_number(*text);
  if (number && *number >= least && *number <= most) return *number;
  throw UsageError({fmt::format("--{} takes a whole number from {} to {}, not \"{}\"", option, least, most, *text)},
                   command_);
}

std::vector<std::string> Arguments::values(std::string_view option) const {
  const auto found = options_.find(option);
  return found == options_.end() ? std::vector<std::string>() : found->second;
}

std::string Arguments::again(std::string_view option) const {
  std::string text;
  for (const std::string& value : values(option)) {
    text += fmt::format("{}--{} {}", text.empty() ? "" : " ", option, shell_word(value));
  }
  return text;
}

std::optional<int64_t> whole_number(std::string_view text) noexcept {
  int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) return std::string(text);
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

}  // namespace tenon::host
