// Command lines that follow a run.
#include <host/next_steps.hpp>

#include <cstring>
#include <initializer_list>
#include <string_view>

#include <fmt/format.h>

#include <host/command.hpp>
#include <host/input_path.hpp>
#include <host/json_text.hpp>
#include <host/run_summary.hpp>

namespace tenon::host {
namespace {

/// A setting that is worth another try: half of the first number with a fraction among the variables, else another seed.
std::string other_value(const engine::RunRequest& request) {
  if (const core::Json* const vars = request.resolved.find("/vars"); vars != nullptr && vars->is_object()) {
    for (const auto& [name, value] : vars->items()) {
      if (value.is_number_float()) return fmt::format("vars.{}={}", name, compact(value.get<double>() / 2));
    }
  }
  return fmt::format("run.seed={}", request.graph.run.seed + 1);
}

std::string command_on(std::string_view command, std::string_view operand, const Arguments& arguments,
                       std::initializer_list<std::string_view> options) {
  std::string line = fmt::format("{} {} {}", shell_word(arguments.program()), command, shell_word(operand));
  for (const std::string_view option : options) {
    if (arguments.has(option)) line += ' ' + arguments.again(option);
  }
  return line;
}

/// The program and the pipeline with the options that decide what it says.
std::string on_pipeline(std::string_view command, const Arguments& arguments) {
  return command_on(command, arguments.operands().front(), arguments,
                    {"plugin-path", "trust-dir", "overlay", "set", "limit", "overfit"});
}

/// Another run as this one was.
std::string on_run_again(const Arguments& arguments) {
  return on_pipeline("run", arguments) + (arguments.has("no-preflight") ? " --no-preflight" : "");
}

/// A command about the run that was made, whose pipeline is kept there.
std::string on_run(std::string_view command, const engine::RunOutcome& outcome, const Arguments& arguments) {
  return command_on(command, short_path(outcome.directory), arguments, {"plugin-path", "trust-dir"});
}

}  // namespace

std::string interruption_notice(const engine::RunOutcome& outcome, const Arguments& arguments) {
  const char* const name = sigabbrev_np(outcome.interrupted);
  const std::string signal = name == nullptr ? std::to_string(outcome.interrupted) : fmt::format("SIG{}", name);
  if (outcome.last_checkpoint.empty()) {
    return fmt::format("Interrupted by {} before the first step: there was nothing to save.\n", signal);
  }
  std::string line = on_run_again(arguments);
  if (arguments.has("accept")) line += ' ' + arguments.again("accept");
  // Without a directory of its own: a branch of another run, which goes on from that very checkpoint.
  const std::filesystem::path& place = outcome.directory.empty() ? outcome.last_checkpoint : outcome.directory;
  return fmt::format("Interrupted by {} at step {}; saved: {}\nTo go on: {} --resume {}\n", signal, outcome.steps,
                     short_path(outcome.last_checkpoint), line, shell_word(short_path(place)));
}

std::string next_steps(const engine::RunRequest& request, const engine::RunOutcome& outcome, const Arguments& arguments,
                       const Console& console) {
  const Paint paint = console.paint();
  const core::Graph& graph = request.graph;
  std::string out = fmt::format("\n{}\n", paint.bold("What next"));
  const auto add = [&](std::string_view what, const std::string& line) {
    out += fmt::format("  {}\n  {}\n", paint.dim(fmt::format("# {}", what)), line);
  };
  if (graph.predict && find_command("predict") != nullptr) {
    add("predict with it", on_run("predict", outcome, arguments) + (needs_input(graph) ? " --input FILE" : ""));
  }
  if (graph.test || !graph.validations.empty()) add("measure it again", on_run("eval", outcome, arguments));
  add("look into its checkpoints", on_run("inspect", outcome, arguments));
  for (const engine::ExportOutcome& each : outcome.exports) {
    if (each.file.extension() != ".pt") continue;
    add("load the exported model in Python",
        "python3 -c " +
            shell_word(fmt::format("import torch; print(torch.jit.load({}))", compact(short_path(each.file)))));
    break;
  }
  add("see every setting and where it comes from", on_pipeline("explain", arguments));
  add("train again with another value",
      fmt::format("{} --set {}", on_run_again(arguments), shell_word(other_value(request))));
  return out;
}

}  // namespace tenon::host
