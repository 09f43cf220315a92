// tenon fix: makes the corrections that are beyond doubt.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/fixing.hpp>
#include <host/pipeline.hpp>
#include <host/unified_diff.hpp>

namespace tenon::host {
namespace {

/// What may hold a secret is shown as other findings show it.
std::string without_secrets(std::string text, const std::vector<std::string>& secrets) {
  for (const std::string& secret : secrets) {
    if (secret.empty()) continue;
    constexpr std::string_view kHidden = "***";
    for (std::size_t at = text.find(secret); at != std::string::npos; at = text.find(secret, at + kHidden.size())) {
      text.replace(at, secret.size(), kHidden);
    }
  }
  return text;
}

int fix_command(const Arguments& arguments, Console& console) {
  const core::Catalogue catalogue = scan_plugins(arguments, console);
  core::ResolveRequest request;
  request.pipeline = arguments.operands().front();
  for (const std::string& overlay : arguments.values("overlay")) request.overlays.emplace_back(overlay);
  const bool dry = arguments.has("dry-run");

  const Fixed fixed = fix(std::move(request), catalogue, dry ? FixMode::kDryRun : FixMode::kWrite);
  for (const FixedFile& file : fixed.files) {
    console.print(without_secrets(unified_diff(file.before, file.after, file.name), fixed.secrets));
  }
  if (const int failed = console.flush(); failed != 0) return failed;
  for (const FixedFile& file : fixed.files) {
    console.complain(fmt::format("{}: {}{}\n", file.name, counted(file.edits, "correction"), dry ? " to be made" : ""));
  }
  console.report(fixed.left, "the rest needs you");
  if (fixed.files.empty() && fixed.left.empty()) {
    console.complain(fmt::format("{}: nothing to correct\n", arguments.operands().front()));
  }
  return fixed.left.exit_code();
}

constexpr Operand kOperands[]{{"PIPE", "the pipeline file (.json, or .jsonc with comments)"}};
constexpr Option kOptions[]{
    kOverlayOption,
    {"dry-run", "", "show what would be changed, and change nothing"},
};
constexpr ExitCode kExitCodes[]{
    {0, "no errors are left"},
    {2, "errors are left that need a person, or the command line is wrong"},
    {3, "a plugin that the pipeline needs is refused"},
    {10, "a file cannot be written"},
};
constexpr Command kFix{
    .name = "fix",
    .group = Group::kUnderstand,
    .summary = "correct what is wrong beyond doubt in a pipeline",
    .purpose =
        "Makes those suggestions of tenon check that are safe: slips of one letter in a name that is known, commas and "
        "quotes that JSON wants, numbers in quotes, and the like. Each is made in the file where the mistake stands, "
        "be "
        "it the pipeline, one that it extends or an overlay; nothing else in the file changes. Suggestions that "
        "contradict each other are left alone.\n"
        "The changes go to standard output as a unified diff, what is left for you to standard error as tenon check "
        "tells it. A file is replaced as a whole or not at all.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon fix mine.json --dry-run\n"
        "tenon fix mine.json\n"
        "tenon fix mine.json --overlay larger.json\n"
        "tenon fix mine.json --dry-run > mine.patch && patch -p0 < mine.patch",
    .exit_codes = kExitCodes,
    .run = &fix_command,
};
TENON_COMMAND(kFix);

}  // namespace
}  // namespace tenon::host
