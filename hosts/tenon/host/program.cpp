// The edge at which every exception becomes a message.
#include <host/program.hpp>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <new>
#include <span>

#include <fmt/format.h>

#include <core/plugin/fingerprint.hpp>
#include <core/plugin/refusal.hpp>
#include <core/text/error_words.hpp>
#include <engine/engine.hpp>
#include <host/arguments.hpp>
#include <host/help.hpp>

namespace tenon::host {
namespace {

bool asks_for_help(std::span<const std::string> words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::any_of(words.begin(), end, [](const std::string& word) { return word == "--help" || word == "-h"; });
}

void apply_color(Console& console, const std::string& choice) {
  console.set_color(choice == "always"  ? ColorChoice::kAlways
                    : choice == "never" ? ColorChoice::kNever
                                        : ColorChoice::kAuto);
}

std::string version() {
  const auto facts = core::parse_fingerprint(core::host_fingerprint());
  const auto libtorch = facts.find("libtorch");
  return fmt::format("tenon {}{}\n", TENON_VERSION,
                     libtorch == facts.end() ? "" : fmt::format(", for libtorch {}", libtorch->second));
}

int run_words(const std::vector<std::string>& all, Console& console) {
  const std::span<const std::string> words = std::span(all).subspan(all.empty() ? 0 : 1);
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    console.print(overview(console));
    return 0;
  }
  if (words[0] == "--version") {
    console.print(version());
    return 0;
  }
  std::size_t used = 0;
  const Command* const command = match_command(words, used);
  const std::span<const std::string> rest = words.subspan(used);
  if (asks_for_help(rest) || command == nullptr) {
    console.print(command != nullptr ? command_help(*command, console) : family_help(words[0], console));
    return 0;
  }
  const Arguments arguments(*command, all[0], rest);
  apply_color(console, arguments.value("color").value_or("auto"));
  console.set_json(arguments.json());
  return command->run(arguments, console);
}

/// A mistaken command line, always as text: whoever typed it reads it.
void explain_usage(const UsageError& error, Console& console) {
  for (const std::string& message : error.messages()) {
    console.report(core::Severity::kError, "", message);
  }
  if (error.command() == nullptr) {
    console.complain("  tenon help lists the commands\n");
  } else {
    console.complain(
        fmt::format("  usage: {}\n  tenon {} --help tells more\n", synopsis(*error.command()), error.command()->name));
  }
}

int explain(const std::exception_ptr& thrown, Console& console) {
  try {
    std::rethrow_exception(thrown);
  } catch (const UsageError& error) {
    explain_usage(error, console);
    return exit_code(error.code());
  } catch (const engine::PlacedError& error) {
    console.report(error.diagnostic());
    return exit_code(error.code());
  } catch (const core::Refusal& error) {
    console.report(core::Severity::kError, error.reason(), error.what(), error.code());
    return exit_code(error.code());
  } catch (const Error& error) {
    console.report(core::Severity::kError, core::error_word(error.code()), error.what(), error.code());
    return exit_code(error.code());
  } catch (const std::filesystem::filesystem_error& error) {
    console.report(core::Severity::kError, core::error_word(ErrorCode::kStorage),
                   fmt::format("cannot use {}: {}", error.path1().string(), error.code().message()),
                   ErrorCode::kStorage);
    return exit_code(ErrorCode::kStorage);
  } catch (const std::bad_alloc&) {
    console.report(core::Severity::kError, core::error_word(ErrorCode::kMemory), "out of memory", ErrorCode::kMemory);
    return exit_code(ErrorCode::kMemory);
  } catch (const std::exception& error) {
    console.report(core::Severity::kError, "internal", error.what(), ErrorCode::kPlugin);
  } catch (...) {
    console.report(core::Severity::kError, "internal", "an exception of a foreign type was thrown", ErrorCode::kPlugin);
  }
  return exit_code(ErrorCode::kPlugin);
}

}  // namespace

int run_program(const std::vector<std::string>& words, Console& console) noexcept {
  int code = 0;
  try {
    code = run_words(words, console);
  } catch (...) {
    code = explain(std::current_exception(), console);
  }
  const int written = console.flush();
  return code != 0 ? code : written;
}

}  // namespace tenon::host
