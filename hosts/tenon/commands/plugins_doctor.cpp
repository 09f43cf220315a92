// tenon plugins doctor: whether each plugin that is installed can be opened, and what to do where it cannot.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <core/plugin/elf.hpp>
#include <core/plugin/preflight.hpp>
#include <core/plugin/probe.hpp>
#include <core/plugin/refusal.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>
#include <host/table.hpp>

namespace tenon::host {
namespace {

using core::Json;
using core::PluginFinding;
using core::Severity;

/// One file of the search path.
struct Patient {
  std::string path;
  std::string id;
  std::string version;
  std::string build_id;
  std::string verdict;  ///< "good", "refused", "unfit", "bad", "not-opened"
  std::string found;    ///< When the verdict of its first opening was found.
  std::vector<PluginFinding> findings;

  [[nodiscard]] bool well() const noexcept { return verdict == "good"; }
};

std::string build_id_of(const std::filesystem::path& file) {
  try {
    return core::ElfFile(file).build_id();
  } catch (const core::Refusal&) {
    return {};
  }
}

bool has_error(const Patient& patient) {
  for (const PluginFinding& each : patient.findings) {
    if (each.severity == Severity::kError) return true;
  }
  return false;
}

/// Fills in what opening those that are fit for it shows.
void open_in_child(std::vector<Patient>& patients, const core::Catalogue& catalogue,
                   const std::optional<core::Libtorch>& libtorch) {
  std::vector<const core::PluginInfo*> fit;
  for (Patient& patient : patients) {
    const core::PluginInfo* const plugin = catalogue.plugin(patient.id);
    if (patient.verdict.empty() && (libtorch || !plugin->over_libtorch())) fit.push_back(plugin);
    if (patient.verdict.empty() && !libtorch && plugin->over_libtorch()) patient.verdict = "not-opened";
  }
  for (const core::ProbedPlugin& probed : core::probe_plugins(fit, libtorch)) {
    for (Patient& patient : patients) {
      if (patient.id != probed.plugin->id || !patient.verdict.empty()) continue;
      patient.verdict = probed.verdict.good ? "good" : "bad";
      patient.found = probed.verdict.found;
      if (!probed.verdict.good) {
        patient.findings.push_back({Severity::kError, probed.verdict.code, core::told(probed)});
      }
    }
  }
}

std::vector<Patient> examine(const core::Catalogue& catalogue, const std::optional<core::Libtorch>& libtorch,
                             std::vector<PluginFinding>& host, bool retry) {
  core::Preflight preflight(libtorch, core::has_nvidia_driver());
  host.assign(preflight.host().begin(), preflight.host().end());
  const core::Verdicts verdicts(core::ProbeOptions().cache, libtorch);
  std::vector<Patient> patients;
  for (const core::PluginInfo& plugin : catalogue.plugins()) {
    if (plugin.built_in()) continue;
    if (retry) verdicts.forget(plugin);
    Patient& patient = patients.emplace_back(
        Patient{plugin.path.string(), plugin.id, plugin.version, plugin.build_id, {}, {}, preflight.examine(plugin)});
    if (has_error(patient)) patient.verdict = "unfit";
  }
  if (host.empty()) {
    open_in_child(patients, catalogue, libtorch);
  } else {
    for (Patient& patient : patients) {
      if (patient.verdict.empty()) patient.verdict = "not-opened";
    }
  }
  for (const core::RefusedPlugin& refused : catalogue.refused()) {
    patients.push_back({refused.path.string(),
                        refused.id,
                        {},
                        build_id_of(refused.path),
                        "refused",
                        {},
                        {{Severity::kError, refused.reason, refused.message}}});
  }
  return patients;
}

Json findings_json(const std::vector<PluginFinding>& findings) {
  Json list = Json::array();
  for (const PluginFinding& each : findings) {
    list.push_back({{"severity", core::to_string(each.severity)}, {"code", each.code}, {"message", each.message}});
  }
  return list;
}

std::string as_json(const std::vector<Patient>& patients, const std::vector<PluginFinding>& host) {
  Json plugins = Json::array();
  for (const Patient& each : patients) {
    plugins.push_back({{"path", each.path},
                       {"id", each.id},
                       {"version", each.version},
                       {"build_id", each.build_id},
                       {"verdict", each.verdict},
                       {"found", each.found},
                       {"findings", findings_json(each.findings)}});
  }
  return pretty({{"format", 1}, {"plugins", std::move(plugins)}, {"host", findings_json(host)}});
}

void add_findings(std::string& out, const std::vector<PluginFinding>& findings, const Console& console) {
  const Paint paint = console.paint();
  for (const PluginFinding& each : findings) {
    const std::string head = fmt::format("{}[{}]", core::to_string(each.severity), each.code);
    out += fmt::format("  {}:\n", each.severity == Severity::kError ? paint.red(head) : paint.yellow(head));
    for (const std::string& line : wrap(each.message, console.width() > 4 ? console.width() - 4 : 0)) {
      out += fmt::format("    {}\n", line);
    }
  }
}

std::string as_text(const std::vector<Patient>& patients, const std::vector<PluginFinding>& host,
                    const Console& console) {
  const Paint paint = console.paint();
  std::string out;
  for (const Patient& each : patients) {
    const std::string name = each.id.empty()        ? "no plugin"
                             : each.version.empty() ? each.id
                                                    : each.id + " " + each.version;
    out += fmt::format("{}: {}\n  {}{}\n", paint.bold(name),
                       each.well() ? paint.green(each.verdict) : paint.red(each.verdict), each.path,
                       each.build_id.empty() ? ", without a build id" : ", build " + each.build_id);
    add_findings(out, each.findings, console);
  }
  if (!host.empty()) {
    out += fmt::format("{}\n", paint.bold("libtorch and the engine"));
    add_findings(out, host, console);
  }
  return out;
}

int doctor(const Arguments& arguments, Console& console) {
  const core::Catalogue catalogue = core::Catalogue::scan(search_path(arguments));
  for (const std::string& warning : catalogue.warnings()) {
    console.report(Severity::kWarning, "plugin-path", warning);
  }
  std::vector<PluginFinding> host;
  std::optional<core::Libtorch> libtorch;
  try {
    libtorch = core::find_libtorch();
  } catch (const core::Refusal& refusal) {
    host.push_back({Severity::kError, refusal.reason(), refusal.what()});
  }
  std::vector<PluginFinding> lacking;
  const std::vector<Patient> patients = examine(catalogue, libtorch, lacking, arguments.has("retry"));
  host.insert(host.end(), lacking.begin(), lacking.end());
  std::size_t ill = 0;
  for (const Patient& each : patients) ill += each.well() ? 0 : 1;
  if (arguments.json()) {
    console.print(as_json(patients, host));
  } else {
    console.print(as_text(patients, host, console));
    console.print(ill == 0 && host.empty()
                      ? fmt::format("all {} can be used\n", counted(patients.size(), "plugin"))
                      : fmt::format("{} of {} cannot be used\n", ill, counted(patients.size(), "file")));
  }
  return ill == 0 && host.empty() ? 0 : exit_code(ErrorCode::kPlugin);
}

constexpr Option kOptions[]{
    {.name = "retry", .value = {}, .help = "forget what earlier openings showed, and open all once more"},
    kFormatOption,
};
constexpr ExitCode kExitCodes[]{
    {0, "all can be used; there may be warnings"},
    {2, "the command line is wrong"},
    {3, "some file cannot be used, or libtorch cannot"},
    {10, "this process may not open as many files at a time as that takes"},
};
constexpr Command kPluginsDoctor{
    .name = "plugins doctor",
    .group = Group::kComponents,
    .summary = "find out why a plugin cannot be used",
    .purpose =
        "Examines every file of the search path: whether it is taken (good manifest, same build facts, nothing twice), "
        "whether all libraries and symbols that it needs are there and are the right ones, and whether a process "
        "survives opening it. The last is tried in a child process with a time limit, once for each build of a plugin; "
        "what it showed is kept in the cache (TENON_CACHE, XDG_CACHE_HOME/tenon or ~/.cache/tenon). A file without a "
        "manifest is named and never opened.\n"
        "Verdicts: good; refused (never looked at further); unfit (could not be opened); bad (opening it ended or "
        "blocked the child or changed what a process has once, such as its locale, or it is not what its manifest "
        "says); not-opened (libtorch is missing). Errors and warnings come with the cure.",
    .operands = {},
    .options = kOptions,
    .examples =
        "tenon plugins doctor\n"
        "tenon plugins doctor --plugin-path build --format json\n"
        "tenon plugins doctor --retry",
    .exit_codes = kExitCodes,
    .run = &doctor,
};
TENON_COMMAND(kPluginsDoctor);

}  // namespace
}  // namespace tenon::host
