// tenon schema: JSON Schema for editors, composed of what is installed.
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/storage/atomic_file.hpp>
#include <core/storage/file.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/editor_schema.hpp>
#include <host/find_component.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>

namespace tenon::host {
namespace {

using core::Json;

/// A mistyped --out must not cost a pipeline: only a schema of ours is replaced.
void require_schema_or_nothing(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) return;
  const Json old = Json::parse(core::read_text(file, ErrorCode::kConfig), nullptr, false);
  const Json* const title = core::find_member(old, "title");
  const bool ours = title != nullptr && title->is_string() && title->get_ref<const std::string&>().starts_with("Tenon");
  if (!ours || core::find_member(old, "definitions") == nullptr) {
    throw Error(ErrorCode::kConfig, fmt::format("{} is there already and is no schema of this command; it stays as it "
                                                "is: give another FILE, or remove it",
                                                file.string()));
  }
}

int schema(const Arguments& arguments, Console& console) {
  const std::optional<std::string> file = arguments.value("out");
  if (file && file->empty()) throw UsageError({"--out needs the name of a file"}, &arguments.command());
  const bool partial = arguments.has("overlays");
  const bool whole = arguments.operands().empty();
  if (partial && !whole) throw UsageError({"--overlays goes without COMPONENT"}, &arguments.command());
  const core::Catalogue catalogue = scan_plugins(arguments, console);
  const core::ComponentInfo* const component =
      whole ? nullptr : &find_component(catalogue, arguments.operands().front());
  const Json made = whole ? editor_schema(catalogue, partial ? FileForm::kPartial : FileForm::kWhole)
                          : editor_schema(catalogue, *component);
  if (!file) {
    console.print(pretty(made));
    return 0;
  }
  require_schema_or_nothing(*file);
  core::write_atomically(*file, pretty(made), core::kOutOption);
  console.print(
      fmt::format("{}: schema of {}\n", *file, whole ? counted(catalogue.ids().size(), "component") : component->id()));
  return 0;
}

constexpr Operand kOperands[]{
    {"COMPONENT", "only the parameters (\"with\") of this one: optimizer:adamw, or adamw alone", Arity::kOptional}};
constexpr Option kOptions[]{
    {"out", "FILE", "write it there instead of to standard output; an older schema is replaced"},
    {"overlays", "", "for overlay files: nothing is required, and null deletes"},
};
constexpr ExitCode kExitCodes[]{
    {0, "done"},
    {2, "there is no such component, or FILE is there and is no schema"},
    {3, "the plugin that brings the component is refused"},
    {10, "FILE cannot be written"},
};
constexpr Command kSchema{
    .name = "schema",
    .group = Group::kComponents,
    .summary = "print the JSON Schema of pipelines for an editor",
    .purpose =
        "An editor that has this schema completes keys, components and their parameters while a pipeline is written, "
        "tells what each means, its type and its default, and underlines what is wrong. The schema (draft 7) is made "
        "of "
        "the pipeline format and the manifests of all installed components: make it anew when plugins come or go. No "
        "plugin is opened.\n"
        "It takes \"${vars.name}\" wherever a value may stand, and files with \"extends\" need not be complete. "
        "References between nodes and shapes are beyond a schema: tenon check tells those.\n"
        "How editors are set up: sdk/docs/editors.md. In short, write it beside the pipelines and begin them with "
        "\"$schema\": \"./pipeline-1.schema.json\".",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon schema --out pipeline-1.schema.json\n"
        "tenon schema --overlays --out overlay-1.schema.json\n"
        "tenon schema optimizer:adamw\n"
        "tenon schema --plugin-path build/plugins --out pipeline-1.schema.json",
    .exit_codes = kExitCodes,
    .run = &schema,
};
TENON_COMMAND(kSchema);

}  // namespace
}  // namespace tenon::host
