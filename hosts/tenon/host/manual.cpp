// Texts of the tables as roff.
#include <host/manual.hpp>

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include <core/text/source.hpp>
#include <host/completion.hpp>

namespace tenon::host {
namespace {

/// The code point that begins the text, which is valid UTF-8.
unsigned code_point(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  unsigned value = first < 0x80 ? first : first < 0xe0 ? first & 0x1fU : first < 0xf0 ? first & 0x0fU : first & 0x07U;
  for (const char c : text.substr(1)) value = value << 6U | (static_cast<unsigned char>(c) & 0x3fU);
  return value;
}

/// As text of a page: what roff would read as its own is escaped.
std::string roff(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(core::code_point_length(text), 1);
    const char c = text.front();
    if (length > 1) {
      out += fmt::format("\\[u{:04X}]", code_point(text.substr(0, length)));
    } else if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '`') {
      out += "\\(ga";
    } else if (c == '^') {
      out += "\\(ha";
    } else if (c == '~') {
      out += "\\(ti";
    } else {
      out += c;
    }
    text.remove_prefix(length);
  }
  return out;
}

/// One or more lines of text; a point in front would be a request.
std::string lines(std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line = roff(text.substr(0, end));
    out += fmt::format("{}{}\n", line.starts_with('.') ? "\\&" : "", line);
    if (end == text.size()) return out;
    text.remove_prefix(end + 1);
  }
}

std::string heading(std::string_view title) { return fmt::format(".SH {}\n", title); }

std::string begin(std::string_view name, std::string_view summary) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return fmt::format(".TH {} 1 \"\" \"tenon {}\" \"Tenon\"\n{}{} \\- {}", roff(upper), TENON_VERSION, heading("NAME"),
                     roff(name), lines(summary));
}

std::string term(const Option& option) {
  return option.value.empty()
             ? fmt::format("\\fB{}\\fR", roff(fmt::format("--{}", option.name)))
             : fmt::format("\\fB{}\\fR \\fI{}\\fR", roff(fmt::format("--{}", option.name)), roff(option.value));
}

std::string entry(const std::string& term, std::string_view text) {
  return fmt::format(".TP\n{}\n{}", term, lines(text));
}

std::string options_text(std::span<const Option> options) {
  std::string out;
  for (const Option& option : options) out += entry(term(option), option.help);
  return out;
}

std::string synopsis_of(const Command& command) {
  std::string out = fmt::format("\\fBtenon {}\\fR", roff(command.name));
  for (const Operand& operand : command.operands) {
    const std::string name = fmt::format("\\fI{}\\fR", roff(operand.name));
    switch (operand.arity) {
      case Arity::kOne: out += ' ' + name; break;
      case Arity::kOptional: out += fmt::format(" [{}]", name); break;
      case Arity::kMany: out += fmt::format(" [{}]\\|.\\|.\\|.", name); break;
    }
  }
  for (const Option& option : command.options) {
    const std::string_view more = option.repeatable ? "\\|.\\|.\\|." : "";
    out += option.required ? fmt::format(" {}", term(option)) : fmt::format(" [{}]{}", term(option), more);
  }
  return out + '\n';
}

std::string paragraphs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view paragraph = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(paragraph.size() + 1, text.size()));
    out += (out.empty() ? "" : ".PP\n") + lines(paragraph);
  }
  return out;
}

}  // namespace

std::string manual_name(const Command& command) {
  std::string name = fmt::format("tenon-{}", command.name);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string manual_page(const Command& command) {
  std::string out = begin(manual_name(command), command.summary);
  out += heading("SYNOPSIS") + synopsis_of(command);
  out += heading("DESCRIPTION") + paragraphs(command.purpose);
  if (!command.operands.empty()) {
    out += heading("ARGUMENTS");
    for (const Operand& operand : command.operands) {
      out += entry(fmt::format("\\fI{}\\fR", roff(operand.name)), operand.help);
    }
  }
  out += heading("OPTIONS") + options_text(command.options) + options_text(common_options());
  out += heading("EXIT STATUS");
  for (const ExitCode& each : command.exit_codes) out += entry(fmt::format("\\fB{}\\fR", each.code), each.meaning);
  out += heading("EXAMPLES") + ".nf\n" + lines(command.examples) + ".fi\n";
  return out + heading("SEE ALSO") + ".BR tenon (1)\n";
}

std::string manual_overview() {
  std::string out = begin("tenon", "trains, evaluates and exports models that a pipeline file describes");
  out += heading("SYNOPSIS") +
         "\\fBtenon\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR]\\|.\\|.\\|.\n.br\n\\fBtenon\\fR \\fB\\-\\-version\\fR\n";
  out +=
      heading("DESCRIPTION") +
      lines(
          "A pipeline is a JSON file that names components (data, model, loss, optimizer and others) and wires them. "
          "Each component comes from a plugin. A command reads the pipeline, tells all mistakes at once, and does "
          "its work. Results go to standard output, everything else to standard error.");
  out += heading("COMMANDS");
  for (const Command* const command : completed_commands()) {
    out += entry(fmt::format("\\fB{}\\fR(1)", roff(manual_name(*command))), command->summary);
  }
  out += heading("OPTIONS") + options_text(common_options());
  out += heading("ENVIRONMENT") +
         entry("\\fBTENON_PLUGIN_PATH\\fR", "further folders with plugins, separated by colons") +
         entry("\\fBTENON_LIBTORCH\\fR", "another libtorch of the release that the program was built for") +
         entry("\\fBNO_COLOR\\fR", "when set, no colours");
  constexpr ExitCode kCodes[]{
      {0, "done"},
      {2, "the configuration or the command line is wrong"},
      {3, "a plugin is refused or fails"},
      {4, "the data is wrong"},
      {5, "training diverged"},
      {6, "out of memory"},
      {7, "the exchange between ranks failed"},
      {8, "a verification failed"},
      {9, "there is no usable checkpoint"},
      {10, "a file cannot be written"},
      {75, "preempted, and all is saved: run it again"},
      {130, "interrupted, and all is saved"},
  };
  out += heading("EXIT STATUS");
  for (const ExitCode& each : kCodes) out += entry(fmt::format("\\fB{}\\fR", each.code), each.meaning);
  return out;
}

}  // namespace tenon::host
