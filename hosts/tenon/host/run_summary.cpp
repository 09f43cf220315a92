// Layout of the closing table and of the commands below it.
#include <host/run_summary.hpp>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/storage/canonical_json.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>
#include <host/table.hpp>

namespace tenon::host {
namespace {

namespace fs = std::filesystem;

/// "test accuracy" for "test.acc": the metric's own name, with its node's where several nodes use it.
std::string metric_label(const core::Graph& graph, std::string_view path, const std::string& key) {
  const std::string rest = key.substr(key.find('.') + 1);
  const core::Node* const node = graph.find(rest.substr(0, rest.find('.')));
  if (node == nullptr) return key;
  std::size_t uses = 0;
  for (const core::Node& each : graph.nodes) uses += each.use() == node->use() ? 1 : 0;
  std::string label = fmt::format("{} {}", path, uses > 1 ? node->name : node->component);
  if (const std::size_t dot = rest.find('.'); dot != std::string::npos) label += ' ' + rest.substr(dot + 1);
  return label;
}

void add_metrics(Table& table, const core::Graph& graph, std::string_view path,
                 const std::map<std::string, double>& metrics, std::string_view of) {
  for (const auto& [key, value] : metrics) {
    table.add({metric_label(graph, path, key), fmt::format("{}{}", short_number(value), of)});
  }
}

std::string training(const engine::RunOutcome& outcome) {
  if (outcome.steps_executed == 0) {
    return fmt::format("was complete: {}, {}", counted(static_cast<std::size_t>(outcome.epochs), "epoch"),
                       counted(static_cast<std::size_t>(outcome.steps), "step"));
  }
  return fmt::format("{}, {} in {}, {:.0f} samples/s", counted(static_cast<std::size_t>(outcome.epochs), "epoch"),
                     counted(static_cast<std::size_t>(outcome.steps), "step"), duration(outcome.train_seconds),
                     outcome.samples_per_second);
}

std::string verified(const engine::ExportOutcome& outcome) {
  return fmt::format("{}, verified: largest error {} over batches of {}", short_path(outcome.file),
                     short_number(outcome.max_abs_error), fmt::join(outcome.batches, ", "));
}

/// A setting that is worth another try: half of the first number with a fraction among the variables, else another seed.
std::string other_value(const engine::RunRequest& request) {
  if (const core::Json* const vars = request.resolved.find("/vars"); vars != nullptr && vars->is_object()) {
    for (const auto& [name, value] : vars->items()) {
      if (value.is_number_float()) return fmt::format("vars.{}={}", name, compact(value.get<double>() / 2));
    }
  }
  return fmt::format("run.seed={}", request.graph.run.seed + 1);
}

/// The program and the pipeline with the options that decide what it says.
std::string command_line(std::string_view command, const Arguments& arguments) {
  std::string line =
      fmt::format("{} {} {}", shell_word(arguments.program()), command, shell_word(arguments.operands().front()));
  for (const std::string_view option : {"plugin-path", "trust-dir", "overlay", "set"}) {
    if (arguments.has(option)) line += ' ' + arguments.again(option);
  }
  return line;
}

}  // namespace

std::string interruption_notice(const engine::RunOutcome& outcome, const Arguments& arguments) {
  const char* const name = sigabbrev_np(outcome.interrupted);
  const std::string signal = name == nullptr ? std::to_string(outcome.interrupted) : fmt::format("SIG{}", name);
  if (outcome.last_checkpoint.empty()) {
    return fmt::format("Interrupted by {} before the first step: there was nothing to save.\n", signal);
  }
  std::string line = command_line("run", arguments);
  if (arguments.has("accept")) line += ' ' + arguments.again("accept");
  return fmt::format("Interrupted by {}; saved: {}\nTo go on: {} --resume {}\n", signal,
                     short_path(outcome.last_checkpoint), line, shell_word(short_path(outcome.directory)));
}

core::Json outcome_json(const engine::RunOutcome& outcome) {
  core::Json json;
  json["format"] = 1;
  json["directory"] = outcome.directory.string();
  json["interrupted"] = outcome.interrupted != 0;
  json["first_step"] = outcome.first_step;
  json["steps"] = outcome.steps;
  json["steps_executed"] = outcome.steps_executed;
  json["samples_used"] = outcome.samples_used;
  json["samples_read"] = outcome.samples_read;
  if (outcome.first_read) {
    json["first_read"] = {{"epoch", outcome.first_read->first}, {"batch", outcome.first_read->second}};
  }
  json["stopped"] = outcome.stopped;
  json["train_seconds"] = outcome.train_seconds;
  json["samples_per_second"] = outcome.samples_per_second;
  json["checkpoint"] = outcome.last_checkpoint.string();
  json["tested_checkpoint"] = outcome.checkpoint.string();
  json["tested_checkpoint_is_best"] = outcome.checkpoint_is_best;
  for (const auto* values : {&outcome.validation, &outcome.test}) {
    core::Json& metrics = json[values == &outcome.test ? "test" : "validation"];
    metrics = core::Json::object();
    for (const auto& [key, value] : *values) metrics[key] = core::number_json(value);
  }
  json["exports"] = core::Json::array();
  for (const engine::ExportOutcome& each : outcome.exports) {
    json["exports"].push_back({{"node", each.node},
                               {"file", each.file.string()},
                               {"max_abs_error", core::number_json(each.max_abs_error)},
                               {"batches", each.batches}});
  }
  return json;
}

std::string short_path(const fs::path& path) {
  std::error_code failed;
  const fs::path relative = fs::proximate(path, failed);
  return failed || relative.empty() || *relative.begin() == ".." ? path.string() : relative.string();
}

std::string short_number(double value) {
  const double size = std::abs(value);
  if (!std::isfinite(value) || value == 0) return fmt::format("{}", value);
  return size >= 1e-3 && size < 1e4 ? fmt::format("{:.4f}", value) : fmt::format("{:.3g}", value);
}

std::string duration(double seconds) {
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string result_table(const core::Graph& graph, const engine::RunOutcome& outcome, const Console& console) {
  const Paint paint = console.paint();
  Table table(2);
  table.style(0, [&](std::string_view text) { return paint.bold(text); });
  const std::string_view which = outcome.checkpoint_is_best ? " (best checkpoint)" : " (last checkpoint)";
  add_metrics(table, graph, "test", outcome.test, "");
  add_metrics(table, graph, "validation", outcome.validation, which);
  table.add({"training", training(outcome)});
  if (!outcome.stopped.empty()) table.add({"stopped early", outcome.stopped});
  table.add({"run directory", short_path(outcome.directory)});
  if (!outcome.checkpoint.empty()) table.add({"checkpoint", short_path(outcome.checkpoint)});
  for (const engine::ExportOutcome& each : outcome.exports) table.add({"export " + each.node, verified(each)});
  // On a terminal the lines above are progress.
  return fmt::format("{}{} {}\n\n{}", console.width() > 0 ? "\n" : "", paint.bold(graph.name),
                     paint.green("is trained"), table.render(console.width()));
}

std::string next_steps(const engine::RunRequest& request, const engine::RunOutcome& outcome, const Arguments& arguments,
                       const Console& console) {
  const Paint paint = console.paint();
  std::string out = fmt::format("\n{}\n", paint.bold("What next"));
  const auto add = [&](std::string_view what, const std::string& line) {
    out += fmt::format("  {}\n  {}\n", paint.dim(fmt::format("# {}", what)), line);
  };
  for (const engine::ExportOutcome& each : outcome.exports) {
    if (each.file.extension() != ".pt") continue;
    add("load the exported model in Python",
        "python3 -c " +
            shell_word(fmt::format("import torch; print(torch.jit.load({}))", compact(short_path(each.file)))));
    break;
  }
  add("see every setting and where it comes from", command_line("explain", arguments));
  add("train again with another value",
      fmt::format("{} --set {}", command_line("run", arguments), shell_word(other_value(request))));
  return out;
}

}  // namespace tenon::host
