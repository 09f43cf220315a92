// tenon init: a starter pipeline.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <core/storage/file.hpp>
#include <core/text/suggest.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/table.hpp>
#include <host/templates.hpp>

namespace tenon::host {
namespace {

std::string list_of_templates(const Console& console) {
  const Paint paint = console.paint();
  Table table;
  table.style(0, [&](std::string_view text) { return paint.bold(text); });
  for (const Template& each : templates()) table.add({std::string(each.name), std::string(summary(each))});
  return table.render(console.width());
}

const Template& find_template(const std::string& name) {
  std::vector<std::string> names;
  for (const Template& each : templates()) {
    if (each.name == name) return each;
    names.emplace_back(each.name);
  }
  const std::string hint = core::did_you_mean(name, names);
  throw Error(ErrorCode::kConfig, fmt::format("there is no template {}; {}", core::quoted(name),
                                              hint.empty() ? "tenon init lists them" : hint));
}

/// What names the runs: the file's name as far as it may be one.
std::string pipeline_name(const std::filesystem::path& file) {
  std::string name;
  for (const char c : file.stem().string()) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || (!name.empty() && (c == '.' || c == '_' || c == '-'))) name += c;
  }
  name.resize(std::min<std::size_t>(name.size(), 100));
  return name.empty() ? "pipeline" : name;
}

/// Makes the file, which must not be there. Nothing stays of one that cannot be written.
void write_new(const std::filesystem::path& file, std::string_view text) {
  core::FileDescriptor made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!made && errno == EEXIST) {
    throw Error(ErrorCode::kConfig,
                fmt::format("{} is there already and stays as it is; name another file with --out", file.string()));
  }
  if (!made) throw core::storage_error("write", file, errno, core::kOutOption);
  try {
    core::write_all(made, core::bytes_of(text), file, core::kOutOption);
    if (const int error = made.close(); error != 0) throw core::storage_error("write", file, error, core::kOutOption);
  } catch (...) {
    ::unlink(file.c_str());
    throw;
  }
}

int init(const Arguments& arguments, Console& console) {
  if (arguments.operands().empty()) {
    if (arguments.has("out")) throw UsageError({"--out goes with a TEMPLATE"}, &arguments.command());
    console.print(list_of_templates(console));
    return 0;
  }
  const Template& chosen = find_template(arguments.operands().front());
  const std::string name = arguments.value("out").value_or(fmt::format("{}.jsonc", chosen.name));
  if (name == "-") {
    console.print(chosen.text);
    return 0;
  }
  const std::filesystem::path file(name);
  if (file.extension() != ".jsonc" || !file.has_stem()) {
    throw UsageError({fmt::format("--out takes a name that ends in .jsonc, not {}: the template has comments, which "
                                  "only such a file may hold",
                                  core::quoted(name))},
                     &arguments.command());
  }
  const std::string word = shell_word(name);
  write_new(file, text_for(chosen, pipeline_name(file), word));
  console.print(
      fmt::format("{}: written; its comments say what is to be put right for your data\n"
                  "next: tenon check {}, then tenon data check {}, then tenon run {}\n",
                  name, word, word, word));
  return 0;
}

constexpr Operand kOperands[]{{"TEMPLATE", "which one; without it, all are listed", Arity::kOptional}};
constexpr Option kOptions[]{
    {"out", "FILE", "the file to make, ending in .jsonc (TEMPLATE.jsonc without it); - prints the text"}};
constexpr ExitCode kExitCodes[]{
    {0, "done"},
    {2, "there is no such template, or FILE is there already"},
    {10, "FILE cannot be written"},
};
constexpr Command kInit{
    .name = "init",
    .group = Group::kTrain,
    .summary = "write a pipeline to start from",
    .purpose =
        "Makes a pipeline file from a template, with comments that explain it and say what is to be put right for data "
        "of your own. The pipeline is called like the file. A file that is there already is never changed.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon init\n"
        "tenon init regression\n"
        "tenon init classification --out wine.jsonc\n"
        "tenon init image-folder --out animals.jsonc\n"
        "tenon init minimal --out - | less",
    .exit_codes = kExitCodes,
    .run = &init,
};
TENON_COMMAND(kInit);

}  // namespace
}  // namespace tenon::host
