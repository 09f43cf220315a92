// tenon artefact-run: the far side of the export gate; runs an exported file in a process that never saw the model.
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <core/json/reader.hpp>
#include <core/schema/checker.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/pipeline.hpp>
#include <host/tensors.hpp>

namespace tenon::host {
namespace {

/// The argument of --with, checked against the component's schema and completed by its defaults.
core::Json read_parameters(const std::string& text, const core::ComponentInfo& component, core::Diagnostics& findings) {
  const auto source = std::make_shared<const core::Source>("--with", text, core::Source::Kind::kArgument);
  core::Document document = core::read_json(source, findings);
  if (!document.usable() || findings.has_errors()) return {};
  core::CheckContext context;
  context.subject = component.id();
  context.locate = [&](std::string_view pointer) {
    const auto [place, exact] = document.places.find_nearest(pointer);
    core::Located located;
    located.key = place->key;
    located.value = located.editable = place->value;
    located.exact = exact;
    return located;
  };
  core::check_value(document.value, component.parameters, context, findings);
  core::fill_defaults(document.value, component.parameters);
  return std::move(document.value);
}

int artefact_run(const Arguments& arguments, Console& console) {
  const core::Catalogue catalogue = scan_plugins(arguments, console);
  const core::ComponentInfo& component = catalogue.at(*arguments.value("component"));
  if (component.kind != "exporter") {
    throw UsageError({fmt::format("--component takes an exporter, and {} is a {}", component.id(), component.kind)},
                     &arguments.command());
  }
  core::Diagnostics findings;
  core::Json with = read_parameters(arguments.value("with").value_or("{}"), component, findings);
  console.report(findings, "nothing was started");
  if (findings.has_errors()) return findings.exit_code();
  const engine::ArtefactRequest request{.catalogue = catalogue,
                                        .component = component.id(),
                                        .with = std::move(with),
                                        .file = *arguments.value("file"),
                                        .inputs = *arguments.value("inputs"),
                                        .outputs = *arguments.value("outputs")};
  open_engine({}).engine->run_artefact(request);
  return 0;
}

constexpr Option kOptions[]{
    {.name = "component",
     .value = "EXPORTER",
     .help = "the component that wrote the file, such as exporter:torchscript",
     .required = true},
    {.name = "file", .value = "FILE", .help = "the exported model", .required = true},
    {.name = "inputs", .value = "FILE", .help = "safetensors with one tensor for each input port", .required = true},
    {.name = "outputs",
     .value = "FILE",
     .help = "safetensors to be written, one tensor for each output port",
     .required = true},
    {.name = "with", .value = "JSON", .help = "the exporter's parameters (default: {})"},
};
constexpr ExitCode kExitCodes[]{
    {0, "the outputs are written"},
    {2, "the command line is wrong, or the inputs lack a tensor that the model takes"},
    {3, "the exporter's plugin or libtorch cannot be used, or the model does not run on these inputs"},
    {8, "the file cannot be loaded"},
    {9, "the inputs cannot be read"},
    {10, "the outputs cannot be written"},
};
constexpr Command kArtefactRun{
    .name = "artefact-run",
    .group = Group::kPlumbing,
    .summary = "run an exported model on tensors from a file",
    .purpose =
        "Loads the exported file alone, without pipeline, model component or checkpoint, runs it on "
        "the given tensors and writes what comes out. Where --inputs and --outputs are folders, each file of "
        "the one goes into the other under its own name, and once more as again-NAME, in the same process. "
        "tenon run starts this command in a second process and compares the outputs with the model's before "
        "an export gets its name.",
    .operands = {},
    .options = kOptions,
    .examples =
        "tenon artefact-run --component exporter:torchscript --file net.pt \\\n"
        "  --inputs in.safetensors --outputs out.safetensors",
    .exit_codes = kExitCodes,
    .run = &artefact_run,
};
TENON_COMMAND(kArtefactRun);

}  // namespace
}  // namespace tenon::host
