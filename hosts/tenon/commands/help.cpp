// tenon help: the overview, or all about one command.
#include <span>

#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/help.hpp>

namespace tenon::host {
namespace {

int help(const Arguments& arguments, Console& console) {
  const std::span<const std::string> words = arguments.operands();
  if (words.empty()) {
    console.print(overview(console.paint()));
    return 0;
  }
  std::size_t used = 0;
  const Command* const command = match_command(words, used);
  console.print(command != nullptr ? command_help(*command, console.paint()) : family_help(words[0], console.paint()));
  return 0;
}

constexpr Operand kOperands[]{{"COMMAND", "one or two words, such as check or plugins show", Arity::kMany}};
constexpr ExitCode kExitCodes[]{{0, "done"}, {2, "there is no such command"}};
constexpr Command kHelp{
    .name = "help",
    .group = Group::kMachine,
    .summary = "this overview, or all about one command",
    .purpose = "Without a command, the overview of all commands; with one, what COMMAND --help prints.",
    .operands = kOperands,
    .options = {},
    .examples =
        "tenon help\n"
        "tenon help run\n"
        "tenon help plugins show",
    .exit_codes = kExitCodes,
    .run = &help,
};
TENON_COMMAND(kHelp);

}  // namespace
}  // namespace tenon::host
