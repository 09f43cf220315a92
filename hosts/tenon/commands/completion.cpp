// tenon completion: scripts that let a shell complete this program's words.
#include <string>

#include <fmt/format.h>

#include <core/text/suggest.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/completion.hpp>
#include <host/console.hpp>
#include <host/pipeline.hpp>

namespace tenon::host {
namespace {

int completion(const Arguments& arguments, Console& console) {
  const std::string& shell = arguments.operands().front();
  if (shell == "bash") {
    console.print(bash_completion());
  } else if (shell == "zsh") {
    console.print(zsh_completion());
  } else if (shell == "fish") {
    console.print(fish_completion());
  } else if (shell == "components") {
    for (const std::string& id : core::Catalogue::scan(search_path(arguments)).ids()) console.print(id + "\n");
  } else {
    throw UsageError({fmt::format("completion is there for bash, zsh and fish, not for {}", core::quoted(shell))},
                     &arguments.command());
  }
  return 0;
}

constexpr Operand kOperands[]{{"SHELL", "bash, zsh or fish; components prints the names that the scripts ask for"}};
constexpr ExitCode kExitCodes[]{{0, "done"}, {2, "there is no completion for that shell"}};
constexpr Command kCompletion{
    .name = "completion",
    .group = Group::kMachine,
    .summary = "print the script with which a shell completes commands",
    .purpose =
        "Commands, options, the words that an option takes, files and the names of installed components are completed. "
        "An installed tenon has these scripts in the folders where the shells look for them; otherwise they are loaded "
        "as the examples show.",
    .operands = kOperands,
    .options = {},
    .examples =
        "tenon completion bash > ~/.local/share/bash-completion/completions/tenon\n"
        "tenon completion zsh > ~/.zfunc/_tenon\n"
        "tenon completion fish > ~/.config/fish/completions/tenon.fish\n"
        "source <(tenon completion bash)",
    .exit_codes = kExitCodes,
    .run = &completion,
};
TENON_COMMAND(kCompletion);

}  // namespace
}  // namespace tenon::host
