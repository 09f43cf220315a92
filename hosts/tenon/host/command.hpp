// What a command of the program is: its words for people, what it takes, and what it does.
#pragma once

#include <span>
#include <string_view>

namespace tenon::host {

class Arguments;
class Console;

/// Where the overview lists a command.
enum class Group { kTrain, kUnderstand, kComponents, kMachine, kPlumbing };

/// `--name VALUE`, or a switch.
struct Option {
  std::string_view name;  ///< Without dashes.
  std::string_view
      value;  ///< What texts call the value: "FILE". "text|json" allows these words alone, "auto|PATH" others too. Empty: a switch.
  std::string_view help;  ///< Further lines after '\n'.
  bool repeatable = false;
  bool required = false;
};

enum class Arity { kOne, kOptional, kMany };

/// An argument without a name.
struct Operand {
  std::string_view name;  ///< "PIPE"
  std::string_view help;
  Arity arity = Arity::kOne;
  bool fresh = false;  ///< A name that the command gives to something new: nothing to be completed.
};

/// An exit code and what it means for this command.
struct ExitCode {
  int code = 0;
  std::string_view meaning;
};

/// Constant for the life of the program. Lines of `summary`, `help` and `examples` stay within 100 columns as printed.
struct Command {
  std::string_view name;  ///< "check"; a family's member is "plugins list".
  Group group = Group::kTrain;
  std::string_view summary;  ///< One line of the overview, without a full stop.
  std::string_view purpose;  ///< What a user must know before the first call: paragraphs, each one line.
  std::span<const Operand> operands;
  std::span<const Option> options;
  std::string_view examples;  ///< Command lines, one a line.
  std::span<const ExitCode> exit_codes;
  int (*run)(const Arguments& arguments, Console& console);  ///< Gives the exit code. May throw; see `run_program`.
};

/// All commands in the order of the overview. There is no list to edit: see TENON_COMMAND.
[[nodiscard]] std::span<const Command* const> commands();

/// The command of that name, or nullptr.
[[nodiscard]] const Command* find_command(std::string_view name);

/// Options that every command takes.
[[nodiscard]] std::span<const Option> common_options() noexcept;

// Options that several commands share.
inline constexpr Option kOverlayOption{"overlay", "FILE", "merge this file over the pipeline, in the order given",
                                       true};
inline constexpr Option kSetOption{"set", "PATH=JSON",
                                   "replace the value at a dotted path, such as vars.lr=0.001;\n"
                                   "+PATH=JSON adds a name to nodes or vars",
                                   true};
inline constexpr Option kLimitOption{"limit", "PATH=N,…",
                                     "at most N batches in each pass: train=5,val=2,test=1;\n"
                                     "short for --set fit.limit=5 and its like"};
inline constexpr Option kOverfitOption{"overfit", "N",
                                       "train on the same N batches in every epoch, without \"stop\":\n"
                                       "a model that cannot learn these by heart is wired wrongly"};
inline constexpr Option kFormatOption{"format", "text|json", "for people (default) or for programs"};

}  // namespace tenon::host

/// Makes a `constexpr Command` of the enclosing file known to the program: a pointer in a linker section, so that a new
/// command is one new file. The counterpart of TENON_COMPONENT.
#define TENON_COMMAND(command)                 \
  [[gnu::section("tenon_commands"), gnu::used, \
    gnu::retain]] const ::tenon::host::Command* const tenon_registered_##command = &(command)
