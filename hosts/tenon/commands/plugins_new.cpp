// tenon plugins new: a plugin to start from, with a test and a pipeline.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/plugin/catalogue.hpp>
#include <core/plugin/manifest_texts.hpp>
#include <core/storage/file.hpp>
#include <core/storage/scratch_folder.hpp>
#include <core/text/suggest.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/pipeline.hpp>
#include <host/plugin_templates.hpp>
#include <host/table.hpp>
#include <host/tensors.hpp>

namespace tenon::host {
namespace {

namespace fs = std::filesystem;

std::string list_of_kinds(const Console& console) {
  const Paint paint = console.paint();
  Table table;
  table.style(0, [&](std::string_view text) { return paint.bold(text); });
  for (const PluginKind& each : plugin_kinds()) {
    table.add({std::string(each.name), fmt::format("{}{}", each.summary, each.cuda ? " (also with --cuda)" : "")});
  }
  return table.render(console.width());
}

const PluginKind& find_kind(const std::vector<PluginKind>& kinds, const Arguments& arguments) {
  const std::string& wanted = arguments.operands().front();
  std::vector<std::string> names;
  for (const PluginKind& each : kinds) {
    if (each.name == wanted) return each;
    names.emplace_back(each.name);
  }
  const std::string& other = arguments.operands().back();
  if (std::ranges::find(names, other) != names.end()) {
    throw UsageError({fmt::format("the kind comes first: tenon plugins new {} {}", other, shell_word(wanted))},
                     &arguments.command());
  }
  const std::string hint = core::did_you_mean(wanted, names);
  throw Error(ErrorCode::kConfig,
              fmt::format("there is no kind {} of component that plugins bring; {}", core::quoted(wanted),
                          hint.empty() ? "tenon plugins new lists them" : hint));
}

/// What the arguments ask for. \throws Error (kConfig) for a name or an id that a plugin cannot have here.
NewPlugin new_plugin(const Arguments& arguments, Console& console) {
  const std::vector<PluginKind> kinds = plugin_kinds();
  const PluginKind& kind = find_kind(kinds, arguments);
  if (arguments.operands().size() < 2) {
    throw UsageError({fmt::format("NAME is missing: tenon plugins new {} my_{}", kind.name, kind.name)},
                     &arguments.command());
  }
  NewPlugin plugin{std::string(kind.name), arguments.operands().back(), "", arguments.has("cuda")};
  if (plugin.cuda && !kind.cuda) {
    std::vector<std::string_view> able;
    for (const PluginKind& each : kinds) {
      if (each.cuda) able.push_back(each.name);
    }
    throw UsageError({fmt::format("--cuda goes with {}, for which there is a variant with kernels; leave it out for {}",
                                  fmt::join(able, " and "), kind.name)},
                     &arguments.command());
  }
  if (const std::string fault = fault_of_plugin_name(plugin.name); !fault.empty()) {
    throw Error(ErrorCode::kConfig, fmt::format("{} is no name for a plugin: {}", core::quoted(plugin.name), fault));
  }
  plugin.id = arguments.value("id").value_or("org.example." + plugin.name);
  if (!core::is_plugin_id(plugin.id)) {
    throw UsageError(
        {fmt::format("--id takes a reverse domain name of lower-case letters, such as org.example.{}, not {}",
                     plugin.name, core::quoted(plugin.id))},
        &arguments.command());
  }
  const core::Catalogue catalogue = scan_plugins(arguments, console);
  if (const core::ComponentInfo* const there = catalogue.find(plugin.kind, plugin.name)) {
    throw Error(ErrorCode::kConfig,
                fmt::format("{} is there already, in {}: of two with one name a pipeline could use only one; choose "
                            "another name",
                            there->id(), catalogue.plugin_of(*there).id));
  }
  if (const core::PluginInfo* const there = catalogue.plugin(plugin.id)) {
    throw Error(ErrorCode::kConfig,
                fmt::format("there is a plugin {} already, {}: choose another id with --id", plugin.id,
                            there->built_in() ? "the kernel itself" : there->path.string()));
  }
  return plugin;
}

void write_new(const fs::path& file, std::string_view text) {
  core::FileDescriptor made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!made) throw core::storage_error("write", file, errno, core::kOutOption);
  core::write_all(made, core::bytes_of(text), file, core::kOutOption);
  if (const int error = made.close(); error != 0) throw core::storage_error("write", file, error, core::kOutOption);
}

[[noreturn]] void refuse_existing(const fs::path& folder) {
  throw Error(ErrorCode::kConfig,
              fmt::format("{} is there already and stays as it is; name another folder with --out", folder.string()));
}

/// The folder gets its name when all files are in it.
void write_plugin(const std::vector<PluginFile>& files, const fs::path& folder) {
  if (fs::exists(fs::symlink_status(folder))) refuse_existing(folder);
  const fs::path parent = folder.has_parent_path() ? folder.parent_path() : fs::path(".");
  if (!fs::is_directory(parent)) {
    throw Error(ErrorCode::kConfig,
                fmt::format("{} is no folder; make it first, or name another place with --out", parent.string()));
  }
  const core::ScratchFolder scratch(parent, ".tenon-new-");
  const fs::path made = scratch.path() / "plugin";
  fs::create_directory(made);
  for (const PluginFile& each : files) write_new(made / each.path, each.text);
  int error = ::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, folder.c_str(), RENAME_NOREPLACE) == 0 ? 0 : errno;
  if (error == EINVAL || error == ENOSYS) {  // a file system without it
    error = ::rename(made.c_str(), folder.c_str()) == 0 ? 0 : errno;
  }
  if (error == EEXIST || error == ENOTEMPTY) refuse_existing(folder);
  if (error != 0) throw core::storage_error("create", folder, error, core::kOutOption);
}

bool has_ninja() {
  const char* const path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::string_view each = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(each.size() + 1, rest.size()));
    if (!each.empty() && ::access((fs::path(each) / "ninja").c_str(), X_OK) == 0) return true;
  }
  return false;
}

/// Command lines that lead from the folder to a run with the plugin, to be copied as they are.
std::vector<std::string> next_lines(const NewPlugin& plugin, const fs::path& folder, const Arguments& arguments) {
  const auto word = [](const fs::path& path) { return shell_word(path.string()); };
  fs::path prefix = program_file().parent_path().parent_path();
  std::vector<std::string> lines;
  if (fs::exists(prefix / "CMakeCache.txt")) {  // a build, which CMake does not find before it is installed
    const fs::path installed = prefix / "installed";
    lines.push_back(fmt::format("cmake --install {} --prefix {}", word(prefix), word(installed)));
    prefix = installed;
  }
  const fs::path build = folder / "build";
  const std::string program = shell_word(arguments.program());
  lines.push_back(fmt::format("cmake -S {} -B {}{} {}", word(folder), word(build), has_ninja() ? " -G Ninja" : "",
                              shell_word("-DCMAKE_PREFIX_PATH=" + prefix.string())));
  lines.push_back(fmt::format("cmake --build {}", word(build)));
  lines.push_back(fmt::format("ctest --test-dir {} --output-on-failure", word(build)));
  lines.push_back(fmt::format("{} plugins check {}", program, word(build / (plugin.name + ".so"))));
  lines.push_back(fmt::format("{} run {} --plugin-path {}", program, word(folder / "pipeline.jsonc"), word(build)));
  return lines;
}

int make_plugin(const Arguments& arguments, Console& console) {
  if (arguments.operands().empty()) {
    for (const char* const option : {"out", "id", "cuda"}) {
      if (arguments.has(option)) {
        throw UsageError({fmt::format("--{} goes with KIND and NAME", option)}, &arguments.command());
      }
    }
    console.print(list_of_kinds(console));
    return 0;
  }
  const NewPlugin plugin = new_plugin(arguments, console);
  fs::path folder = fs::path(arguments.value("out").value_or(plugin.name)).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // written with a slash at the end
  if (folder.empty()) throw UsageError({"--out takes the name of a folder"}, &arguments.command());
  if (folder.string().starts_with('-')) folder = "." / folder;  // no option in the commands below
  const std::vector<PluginFile> files = files_of(plugin);
  write_plugin(files, folder);

  std::string text = fmt::format("{}: {}:{}, a plugin to start from; README.md says what to change first\n",
                                 folder.string(), plugin.kind, plugin.name);
  for (const PluginFile& each : files) text += fmt::format("  {}\n", each.path);
  text += "next:\n";
  for (const std::string& line : next_lines(plugin, folder, arguments)) text += fmt::format("  {}\n", line);
  console.print(text);
  return 0;
}

constexpr Operand kOperands[]{
    {"KIND", "of the component; without it, all kinds are listed", Arity::kOptional},
    {.name = "NAME",
     .help = "of the component, the library and the files: lower case, words joined by _",
     .arity = Arity::kOptional,
     .fresh = true},
};
constexpr Option kOptions[]{
    {"out", "DIR", "the folder to make; NAME unless given"},
    {"id", "ID", "the plugin's id, a reverse domain name; org.example.NAME unless given"},
    {"cuda", "", "for transform and loss: with a kernel for GPUs in a .cu file, and the CPU as reference"},
};
constexpr ExitCode kExitCodes[]{
    {0, "done"},
    {2, "there is no such kind, NAME cannot be had, or the folder is there already"},
    {10, "the folder cannot be written"},
};
constexpr Command kPluginsNew{
    .name = "plugins new",
    .group = Group::kComponents,
    .summary = "write a plugin to start from",
    .purpose =
        "Makes a folder with a component that works: source, CMake, a test, a pipeline that uses it, and a README that "
        "says what its kind has to keep and what to change first. It configures, builds, passes its test and tenon "
        "plugins check as it is; the commands for that are printed. A folder that is there already is never changed.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon plugins new\n"
        "tenon plugins new transform random_crop\n"
        "tenon plugins new loss focal --id com.example.focal --out plugins/focal\n"
        "tenon plugins new transform median --cuda",
    .exit_codes = kExitCodes,
    .run = &make_plugin,
};
TENON_COMMAND(kPluginsNew);

}  // namespace
}  // namespace tenon::host
