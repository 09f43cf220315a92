// tenon plugins diff: what changed between two builds of a plugin.
#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <core/plugin/compatibility.hpp>
#include <core/plugin/elf.hpp>
#include <core/plugin/refusal.hpp>
#include <core/storage/file.hpp>
#include <core/text/suggest.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/find_component.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>
#include <host/table.hpp>

namespace tenon::host {
namespace {

namespace fs = std::filesystem;

using core::Effect;
using core::PluginChange;
using core::PluginInfo;

constexpr uint64_t kLargestManifest = uint64_t{64} << 20;

core::Json manifest_of(const fs::path& file) {
  if (file.extension() != ".json") return core::manifest_in(core::ElfFile(file));
  return core::manifest_json(core::read_text(file, ErrorCode::kConfig, kLargestManifest));
}

/// A plugin's file, a manifest's, or the id of an installed plugin. Revisions and fingerprints of other Tenons are read.
PluginInfo read_side(const std::string& given, const Arguments& arguments, Console& console) {
  std::error_code ignored;
  if (!fs::exists(given, ignored)) {
    if (given.ends_with(".so") || given.ends_with(".json") || given.find('/') != std::string::npos) {
      throw Error(ErrorCode::kConfig, fmt::format("{} does not exist", core::quoted(given, given.size())));
    }
    return find_installed(scan_plugins(arguments, console), given).plugin;
  }
  try {
    return core::parse_manifest(manifest_of(given), core::Revisions::kAny);
  } catch (const core::Refusal& refusal) {
    throw core::Refusal(refusal.reason(), fmt::format("{}: {}", given, refusal.what()));
  }
}

struct Diff {
  PluginInfo old;
  PluginInfo now;
  std::vector<PluginChange> changes;
  std::string missing_step;

  [[nodiscard]] std::size_t count(Effect effect) const {
    return static_cast<std::size_t>(std::ranges::count(changes, effect, &PluginChange::effect));
  }
  [[nodiscard]] bool compatible() const { return count(Effect::kBreaking) == 0; }
};

core::Json as_json(const Diff& diff) {
  const auto side = [](const PluginInfo& plugin) {
    return core::Json{{"id", plugin.id}, {"version", plugin.version}, {"fingerprint", plugin.fingerprint}};
  };
  core::Json changes = core::Json::array();
  for (const PluginChange& change : diff.changes) {
    changes.push_back({{"effect", core::to_string(change.effect)},
                       {"component", change.component},
                       {"place", change.place},
                       {"text", change.text}});
  }
  return {{"old", side(diff.old)},
          {"new", side(diff.now)},
          {"compatible", diff.compatible()},
          {"missing_version_step", diff.missing_step},
          {"changes", std::move(changes)}};
}

std::string verdict(const Diff& diff) {
  if (diff.changes.empty()) return "equal: nothing that a manifest tells has changed\n";
  std::string text;
  if (!diff.compatible()) {
    text = fmt::format("not compatible: {} that pipelines or checkpoints may depend on\n",
                       counted(diff.count(Effect::kBreaking), "change"));
  } else if (diff.count(Effect::kResults) > 0) {
    text = fmt::format("compatible, but {} may give other results\n", counted(diff.count(Effect::kResults), "change"));
  } else {
    text = "compatible: every pipeline of the old one is taken\n";
  }
  if (!diff.missing_step.empty()) {
    text += fmt::format("version {} -> {}: such changes call for a new {} version\n", diff.old.version,
                        diff.now.version, diff.missing_step);
  }
  return text;
}

std::string as_text(const Diff& diff, const Console& console) {
  const Paint paint = console.paint();
  std::string out = fmt::format("{} {} -> {} {}\n", paint.bold(diff.old.id), diff.old.version, paint.bold(diff.now.id),
                                diff.now.version);
  const auto begin_table = [&] {
    Table table(2);
    table.style(0, [paint](std::string_view text) { return text == "breaking" ? paint.red(text) : std::string(text); });
    return table;
  };
  Table table = begin_table();
  std::string_view component;
  for (const PluginChange& change : diff.changes) {
    if (change.component != component) {
      out += std::exchange(table, begin_table()).render(console.width());
      out += fmt::format("\n{}\n", paint.bold(change.component));
      component = change.component;
    }
    table.add({std::string(core::to_string(change.effect)),
               change.place.empty() ? change.text : fmt::format("{}: {}", change.place, change.text)});
  }
  out += table.render(console.width());
  return out + '\n' + verdict(diff);
}

int diff(const Arguments& arguments, Console& console) {
  Diff diff{read_side(arguments.operands()[0], arguments, console),
            read_side(arguments.operands()[1], arguments, console),
            {},
            {}};
  diff.changes = core::compare_plugins(diff.old, diff.now);
  diff.missing_step = core::missing_version_step(diff.old, diff.now, diff.changes);
  console.print(arguments.json() ? pretty(as_json(diff)) : as_text(diff, console));
  return arguments.has("strict") && !diff.compatible() ? exit_code(ErrorCode::kPlugin) : 0;
}

constexpr Operand kOperands[]{
    {"OLD", "a plugin's file, the manifest of one (.json), or the id of an installed plugin"},
    {"NEW", "another build of it, given likewise"},
};
constexpr Option kOptions[]{
    {"strict", "", "exit 3 unless every pipeline of OLD works with NEW: for the CI of a plugin"},
    kFormatOption,
};
constexpr ExitCode kExitCodes[]{
    {0, "compared, whether compatible or not"},
    {2, "a file is not there, or no plugin has that id"},
    {3, "a file is no plugin or is damaged; with --strict: NEW is not compatible"},
};
constexpr Command kPluginsDiff{
    .name = "plugins diff",
    .group = Group::kComponents,
    .summary = "show what changed between two builds of a plugin",
    .purpose =
        "Compares what the two say of themselves: components, interfaces and their revisions, parameters with types, "
        "bounds and defaults, ports, metrics, traits, abilities. Each change is \"breaking\" (some pipeline that was "
        "right is refused, or a checkpoint cannot be gone on from), one of \"results\" (the same pipeline gives other "
        "numbers: a new default) or \"compatible\". At the end stands whether NEW can take OLD's place, and which "
        "part of the version should have grown.\n"
        "Only manifests are read; neither plugin is opened. What the code does is not compared.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon plugins diff release/cutout.so build/cutout.so --strict\n"
        "tenon plugins diff org.tenon.losses build/losses.so\n"
        "tenon plugins diff cutout-1.0.0.json build/cutout.so --format json | jq .compatible",
    .exit_codes = kExitCodes,
    .run = &diff,
};
TENON_COMMAND(kPluginsDiff);

}  // namespace
}  // namespace tenon::host
