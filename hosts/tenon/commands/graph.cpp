// tenon graph: the wired graph, as text, for programs, or drawn.
#include <fcntl.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <core/storage/atomic_file.hpp>
#include <core/storage/file.hpp>
#include <core/text/suggest.hpp>
#include <host/arguments.hpp>
#include <host/command.hpp>
#include <host/console.hpp>
#include <host/graph_dot.hpp>
#include <host/graph_json.hpp>
#include <host/graph_text.hpp>
#include <host/graph_view.hpp>
#include <host/graphviz.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>

namespace tenon::host {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStandardOutput = "-";

/// A file gets its name when it is whole; what is no regular file, such as /dev/null, is written as it is.
void write_file(const fs::path& path, std::string_view text) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) throw core::storage_error("write", path, EISDIR);
  if (!fs::exists(status) || fs::is_regular_file(status)) {
    core::write_atomically(fs::absolute(path), text);
    return;
  }
  const core::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) throw core::storage_error("write", path, errno);
  core::write_all(file, core::bytes_of(text), path);
}

void check_outputs(const Arguments& arguments) {
  const std::optional<std::string> dot = arguments.value("dot");
  const std::optional<std::string> svg = arguments.value("svg");
  std::vector<std::string> mistakes;
  if (dot && dot->empty()) mistakes.emplace_back("--dot needs the name of a file, or \"-\"");
  if (svg && svg->empty()) mistakes.emplace_back("--svg needs the name of a file, or \"-\"");
  if (mistakes.empty() && dot && svg && *dot == *svg) {
    mistakes.push_back(fmt::format("--dot and --svg both write to {}",
                                   *dot == kStandardOutput ? "standard output" : core::quoted(*dot)));
  }
  if (!mistakes.empty()) throw UsageError(std::move(mistakes), &arguments.command());
}

int graph(const Arguments& arguments, Console& console) {
  check_outputs(arguments);
  const core::Catalogue catalogue = scan_plugins(arguments, console);
  const Pipeline pipeline = read_pipeline(arguments, catalogue);
  console.report(pipeline.findings, "nothing is drawn");
  if (!pipeline.graph) return pipeline.findings.exit_code();

  const GraphView view(*pipeline.graph);
  if (!arguments.has("dot") && !arguments.has("svg")) {
    console.print(arguments.json() ? pretty(graph_json(view)) : graph_page(view, console));
    return 0;
  }
  const std::string dot = graph_dot(view);
  const auto write = [&](std::string_view option, const std::string& text) {
    const std::string file = *arguments.value(option);
    if (file == kStandardOutput) {
      console.print(text);
    } else {
      write_file(file, text);
    }
  };
  if (arguments.has("dot")) write("dot", dot);
  if (arguments.has("svg")) write("svg", draw_svg(dot));
  return 0;
}

constexpr Operand kOperands[]{{"PIPE", "the pipeline file"}};
constexpr Option kOptions[]{
    {"dot", "FILE", "write the drawing in Graphviz's language instead; \"-\" is standard output"},
    {"svg", "FILE", "draw it with Graphviz's dot, which must be installed; \"-\" is standard output"},
    kOverlayOption,
    kSetOption,
    kFormatOption,
};
constexpr ExitCode kExitCodes[]{
    {0, "done"},
    {2, "the pipeline has errors, or Graphviz is missing or fails"},
    {3, "a plugin that the pipeline needs is refused"},
    {10, "FILE cannot be written"},
};
constexpr Command kGraph{
    .name = "graph",
    .group = Group::kUnderstand,
    .summary = "show how the nodes are wired, with types and shapes",
    .purpose =
        "Prints the nodes of both planes in blocks by the paths that run them (fit and its phases, validations, "
        "test, predict), what each takes, and the types and shapes on the edges as far as the components' "
        "manifests tell; then what is attached to what, and the settings of the run in words. N is the number of "
        "samples in a batch, ? an axis that is known only later. With --dot or --svg a drawing is written in place "
        "of the text. Opens no plugin.",
    .operands = kOperands,
    .options = kOptions,
    .examples =
        "tenon graph digits.json\n"
        "tenon graph digits.json --svg digits.svg\n"
        "tenon graph digits.json --dot - | dot -Tpng -o digits.png\n"
        "tenon graph digits.json --format json | jq '.edges[].types'",
    .exit_codes = kExitCodes,
    .run = &graph,
};
TENON_COMMAND(kGraph);

}  // namespace
}  // namespace tenon::host
