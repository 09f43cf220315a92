// tenon help: the overview, or all about one command; also as manual pages.
#include <map>
#include <optional>
#include <span>
#include <string>

#include <fmt/format.h>

#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/completion.hpp>
#include <host/console.hpp>
#include <host/help.hpp>
#include <host/manual.hpp>
#include <host/text_pages.hpp>

namespace tenon::host {
namespace {

/// tenon.1 and a page for each command.
std::map<std::string, std::string> manual_pages() {
  std::map<std::string, std::string> pages{{"tenon.1", manual_overview()}};
  for (const Command* const command : completed_commands()) {
    pages.emplace(manual_name(*command) + ".1", manual_page(*command));
  }
  return pages;
}

int help(const Arguments& arguments, Console& console) {
  const std::span<const std::string> words = arguments.operands();
  const bool manual = arguments.has("man");
  const std::optional<std::string> folder = arguments.value("out");
  if (folder) {
    if (!manual || !words.empty() || folder->empty()) {
      throw UsageError({"--out DIR goes with --man and without a COMMAND"}, &arguments.command());
    }
    write_pages(*folder, manual_pages());
    return 0;
  }
  if (words.empty()) {
    console.print(manual ? manual_overview() : overview(console));
    return 0;
  }
  std::size_t used = 0;
  const Command* const command = match_command(words, used);
  if (command == nullptr && manual) {
    throw UsageError({fmt::format("tenon {} has several commands, each with a page of its own", words[0])}, nullptr);
  }
  if (command == nullptr) {
    console.print(family_help(words[0], console));
  } else {
    console.print(manual ? manual_page(*command) : command_help(*command, console));
  }
  return 0;
}

constexpr Operand kOperands[]{{"COMMAND", "one or two words, such as check or plugins show", Arity::kMany}};
constexpr Option kOptions[]{
    {"man", "", "as a manual page: roff for man(1)"},
    {"out", "DIR", "with --man: all pages, into this folder"},
};
constexpr ExitCode kExitCodes[]{
    {0, "done"},
    {2, "there is no such command"},
    {10, "DIR cannot be written"},
};
constexpr Command kHelp{
    .name = "help",
    .group = Group::kMachine,
    .summary = "this overview, or all about one command",
    .purpose =
        "Without a command, the overview of all commands; with one, what COMMAND --help prints. An installed tenon has "
        "the same texts as manual pages: man tenon-run.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon help\n"
        "tenon help run\n"
        "tenon help plugins show\n"
        "tenon help run --man | man -l -",
    .exit_codes = kExitCodes,
    .run = &help,
};
TENON_COMMAND(kHelp);

}  // namespace
}  // namespace tenon::host
