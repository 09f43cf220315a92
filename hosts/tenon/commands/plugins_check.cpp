// tenon plugins check: tries every component of one plugin's file.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <core/plugin/catalogue.hpp>
#include <core/plugin/elf.hpp>
#include <core/plugin/preflight.hpp>
#include <core/plugin/refusal.hpp>
#include <core/storage/scratch_folder.hpp>
#include <core/text/suggest.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/conformance.hpp>
#include <host/console.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>

namespace tenon::host {
namespace {

namespace fs = std::filesystem;

int list(const Arguments& arguments, Console& console) {
  core::Json all = core::Json::array();
  run_conformance({"--list"}, [&](const core::Json& line) { all.push_back(line); });
  if (arguments.json()) {
    console.print(pretty(all));
    return 0;
  }
  for (const core::Json& each : all) {
    console.print(fmt::format("{}  ({})\n    {}\n", console.paint().bold(each.at("case").get<std::string>()),
                              each.at("kind").get<std::string>(), each.at("description").get<std::string>()));
  }
  return 0;
}

/// What speaks against opening the file comes first, apart from revisions, which are a case of their own.
/// \throws Refusal for a file that is no plugin, is not trusted or was built for another host.
core::Json manifest_of(const fs::path& file, const Arguments& arguments) {
  core::SearchOptions options{{file}, {}};
  for (const std::string& each : arguments.values("trust-dir")) options.trusted.emplace_back(each);
  core::SearchPath path = core::SearchPath::standard(options);
  path.folders.resize(1);
  const core::Catalogue catalogue = core::Catalogue::scan(path);
  for (const core::RefusedPlugin& refused : catalogue.refused()) {
    if (refused.reason != "revision") throw core::Refusal(refused.reason, file.string() + ": " + refused.message);
  }
  return core::manifest_in(core::ElfFile(file));
}

/// Tells what the loader would stumble over. False when the file cannot be opened.
bool may_be_opened(const core::Json& manifest, const fs::path& file, Console& console) {
  const core::PluginInfo plugin = core::read_plugin(core::ElfFile(file), manifest, core::Revisions::kAny);
  bool may = true;
  for (const core::PluginFinding& each : core::Preflight(core::usable_libtorch()).examine(plugin)) {
    console.report(each.severity, each.code, fmt::format("{}: {}", file.string(), each.message), ErrorCode::kPlugin);
    may = may && each.severity != core::Severity::kError;
  }
  return may;
}

double number(const Arguments& arguments, std::string_view option, double otherwise, double least) {
  const std::optional<std::string> text = arguments.value(option);
  if (!text) return otherwise;
  const std::optional<int64_t> value = whole_number(*text);
  if (!value || static_cast<double>(*value) < least) {
    throw UsageError(
        {fmt::format("--{} takes a whole number of at least {}, not {}", option, least, core::quoted(*text))},
        &arguments.command());
  }
  return static_cast<double>(*value);
}

void require_component(const core::Json& manifest, const std::string& wanted, const Arguments& arguments) {
  std::vector<std::string> ids;
  for (const core::Json& each : manifest.at("components")) {
    ids.push_back(fmt::format("{}:{}", each.at("kind").get<std::string>(), each.at("name").get<std::string>()));
  }
  if (std::find(ids.begin(), ids.end(), wanted) != ids.end()) return;
  throw UsageError({fmt::format("the plugin has no {}; {}", core::quoted(wanted), core::did_you_mean(wanted, ids))},
                   &arguments.command());
}

/// What came out, told as it comes.
class Report {
 public:
  Report(const Arguments& arguments, Console& console, fs::path file)
      : arguments_(arguments), console_(console), file_(std::move(file)) {}

  void begin(const core::Json& manifest) {
    plugin_ = {{"id", manifest.at("id")}, {"version", manifest.at("version")}, {"path", file_.string()}};
    if (arguments_.json()) return;
    console_.print(fmt::format("{} {}, {}\n", manifest.at("id").get<std::string>(),
                               manifest.at("version").get<std::string>(), file_.string()));
  }

  void take(const core::Json& line) {
    cases_.push_back(line);
    ++counts_[line.at("verdict").get<std::string>()];
    seconds_ += line.at("seconds").get<double>();
    if (arguments_.json()) return;
    for (const core::Json& finding : line.at("findings")) show(line, finding);
  }

  [[nodiscard]] int end() {
    if (cases_.empty()) {
      throw UsageError(
          {fmt::format("no case matches {}; --list shows all", core::quoted(arguments_.value("only").value_or("*")))},
          &arguments_.command());
    }
    const core::Json summary{{"passed", counts_["passed"]},
                             {"failed", counts_["failed"]},
                             {"warned", counts_["warned"]},
                             {"skipped", counts_["skipped"]},
                             {"seconds", seconds_}};
    if (arguments_.json()) {
      console_.print(pretty({{"format", 1}, {"plugin", plugin_}, {"cases", cases_}, {"summary", summary}}));
    } else {
      console_.print(fmt::format("{} cases: {} passed, {} failed, {} with a warning, {} do not apply; {:.1f} s\n",
                                 cases_.size(), counts_["passed"], counts_["failed"], counts_["warned"],
                                 counts_["skipped"], seconds_));
    }
    return counts_["failed"] > 0 ? exit_code(ErrorCode::kPlugin) : 0;
  }

 private:
  void show(const core::Json& line, const core::Json& finding) {
    const bool error = finding.at("severity") == "error";
    const auto test = line.at("case").get<std::string>();
    const auto component = line.at("component").get<std::string>();
    const Paint paint = console_.paint();
    console_.print(fmt::format("{} {} of {}: {}\n", error ? paint.red("failed") : paint.yellow("warning"),
                               paint.bold(test), component, finding.at("message").get<std::string>()));
    if (!finding.at("params").is_null()) {
      console_.print(fmt::format("    with {}, seed {}\n", finding.at("params").dump(), line.at("seed").dump()));
    }
    console_.print(fmt::format("    cure: {}\n    again: tenon plugins check {} --only {}{} --seed {}\n",
                               finding.at("cure").get<std::string>(), shell_word(file_.string()), test,
                               component.starts_with("plugin:") ? "" : " --component " + component,
                               line.at("seed").dump()));
  }

  const Arguments& arguments_;
  Console& console_;
  fs::path file_;
  core::Json plugin_;
  core::Json cases_ = core::Json::array();
  std::map<std::string, int64_t> counts_;
  double seconds_ = 0;
};

int check(const Arguments& arguments, Console& console) {
  if (arguments.has("list")) {
    if (!arguments.operands().empty()) throw UsageError({"--list goes without a FILE"}, &arguments.command());
    return list(arguments, console);
  }
  if (arguments.operands().empty()) throw UsageError({"FILE is missing: a plugin's file"}, &arguments.command());
  const fs::path file = fs::absolute(arguments.operands().front());
  if (std::error_code unreadable; !fs::is_regular_file(file, unreadable)) {
    throw Error(ErrorCode::kConfig, fmt::format("{} is no file", core::quoted(file.string(), file.string().size())));
  }
  const double seed = number(arguments, "seed", 1, 0);
  const double timeout = number(arguments, "timeout", 30, 1);
  const core::Json manifest = manifest_of(file, arguments);
  if (!may_be_opened(manifest, file, console)) return exit_code(ErrorCode::kPlugin);
  const core::ScratchFolder scratch(fs::temp_directory_path(), "tenon-check-");
  const fs::path manifest_file = scratch.path() / "manifest.json";
  std::ofstream(manifest_file) << manifest.dump();
  std::vector<std::string> words{"--plugin",   file.string(),
                                 "--manifest", manifest_file.string(),
                                 "--seed",     fmt::format("{:.0f}", seed),
                                 "--timeout",  fmt::format("{:.0f}", timeout)};
  for (const char* const option : {"only", "component"}) {
    const std::optional<std::string> value = arguments.value(option);
    if (!value) continue;
    if (std::string_view(option) == "component") require_component(manifest, *value, arguments);
    words.push_back(fmt::format("--{}", option));
    words.push_back(*value);
  }
  Report report(arguments, console, file);
  report.begin(manifest);
  run_conformance(words, [&](const core::Json& line) { report.take(line); });
  return report.end();
}

constexpr Operand kOperands[]{{"FILE", "a plugin's file, wherever it lies", Arity::kOptional}};
constexpr Option kOptions[]{
    {"list", "", "without FILE: all cases with their descriptions"},
    {"only", "GLOB", "the cases of these names alone, such as 'loss.*' or state.restored"},
    {"component", "KIND:NAME", "this component alone"},
    kFormatOption,
    {"seed", "N", "another seed draws other parameters and inputs; 1 unless given"},
    {"timeout", "SECONDS", "how long one case may take; 30 unless given"},
};
constexpr ExitCode kExitCodes[]{
    {0, "no case failed; there may be warnings"},
    {2, "FILE is missing, or nothing has that name"},
    {3, "a case failed, or the plugin is refused before it is opened"},
    {10, "this process may not open as many files at a time as that takes"},
};
constexpr Command kPluginsCheck{
    .name = "plugins check",
    .group = Group::kComponents,
    .summary = "try a plugin: does it keep to the contract?",
    .purpose =
        "Tries every component of a plugin as a run would use it and as none should: parameters at and beyond their "
        "bounds, state saved and restored, threads, memory, determinism, gradients, wrong inputs. Each case runs in a "
        "process of its own with a time limit, so that a crash ends only that case. Parameters and inputs come from "
        "the "
        "component's schema, port rules and example. Every failure says what was found, with which parameters and "
        "seed, "
        "and the likely cure. What speaks against opening the file at all comes first.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon plugins check build/cutout.so\n"
        "tenon plugins check build/cutout.so --only 'state.*'\n"
        "tenon plugins check build/losses.so --component loss:focal --seed 7\n"
        "tenon plugins check --list",
    .exit_codes = kExitCodes,
    .run = &check,
};
TENON_COMMAND(kPluginsCheck);

}  // namespace
}  // namespace tenon::host
