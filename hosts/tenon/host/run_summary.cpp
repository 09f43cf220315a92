// Layout of the closing table.
#include <host/run_summary.hpp>

#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/storage/canonical_json.hpp>
#include <core/storage/checkpoint.hpp>
#include <core/storage/checkpoint_index.hpp>
#include <host/checkpoint_page.hpp>
#include <host/pipeline.hpp>
#include <host/table.hpp>

namespace tenon::host {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLeastColumnsOfTable = 60;

using Row = std::pair<std::string, std::string>;

/// The path that a log key belongs to, as people call it, and the rest of the key: "validate.clean.acc" is "validation
/// clean" and "acc" where a validation has that name.
std::pair<std::string, std::string> split_key(const core::Graph& graph, const std::string& key) {
  std::pair<std::string, std::string> parts{key.substr(0, key.find('.')), key.substr(key.find('.') + 1)};
  for (const core::Validation& validation : graph.validations) {
    if (!key.starts_with(validation.path.name + '.')) continue;
    parts.first = "validation";
    if (!validation.name.empty()) parts.first += ' ' + validation.name;
    parts.second = key.substr(validation.path.name.size() + 1);
  }
  return parts;
}

/// "test accuracy" for "test.acc", "test confusion macro_f1" for "test.each_class": the metric's own name, or its node's
/// where several nodes use it, and that of the value where there are several.
std::string metric_label(const core::Graph& graph, const std::string& key) {
  const auto [path, rest] = split_key(graph, key);
  const core::Node* const node = graph.find(rest.substr(0, rest.find('.')));
  if (node == nullptr) return key;
  std::size_t uses = 0;
  for (const core::Node& each : graph.nodes) uses += each.use() == node->use() ? 1 : 0;
  std::string label = fmt::format("{} {}", path, uses > 1 ? node->name : node->component);
  if (const std::size_t dot = rest.find('.'); dot != std::string::npos) {
    label += ' ' + rest.substr(dot + 1);
  } else if (node->info != nullptr && node->info->metrics.size() > 1) {
    label += ' ' + node->info->metrics.front().name;  // which the key leaves out
  }
  return label;
}

/// What the run's index says of the checkpoint that was tested and of the newest one.
struct Chosen {
  bool best = false;  ///< Chosen because it is the best, not because it is the newest.
  bool newest = true;
  std::optional<core::CheckpointRecord> record;
  std::optional<core::CheckpointRecord> last;
};

Chosen chosen_checkpoint(const engine::RunOutcome& outcome) {
  Chosen chosen;
  chosen.best = outcome.checkpoint_is_best;
  chosen.newest = outcome.checkpoint == outcome.last_checkpoint;
  if (outcome.checkpoint.empty()) return chosen;
  try {
    const core::CheckpointIndex index = core::CheckpointIndex::load(outcome.checkpoint.parent_path());
    const auto record_of = [&](const fs::path& checkpoint) -> std::optional<core::CheckpointRecord> {
      const std::optional<int64_t> step = core::step_of(checkpoint.filename().string());
      const core::CheckpointRecord* const found = step ? index.find(*step) : nullptr;
      return found == nullptr ? std::nullopt : std::optional(*found);
    };
    chosen.record = record_of(outcome.checkpoint);
    chosen.last = record_of(outcome.last_checkpoint);
  } catch (const Error&) {
    // The table is then told without steps: what counts, the run, went well.
  }
  return chosen;
}

/// "0.9861 at step 408 after 24 epochs (best); 0.9833 at the end".
std::string validated(const std::string& key, double value, const Chosen& chosen, bool with_place) {
  std::string text = short_number(value);
  if (with_place && chosen.record) {
    text += fmt::format(" at step {} after {}", chosen.record->step,
                        counted(static_cast<std::size_t>(chosen.record->epoch), "epoch"));
  }
  text += !chosen.best ? " (last)" : chosen.newest ? " (best and last)" : " (best)";
  if (chosen.newest || !chosen.last) return text;
  const auto last = chosen.last->metrics.find(key);
  if (last != chosen.last->metrics.end()) text += fmt::format("; {} at the end", short_number(last->second));
  return text;
}

/// What decided, or else the first, says where it was measured; the others were measured there, too.
void add_validation(std::vector<Row>& rows, const core::Graph& graph, const engine::RunOutcome& outcome,
                    const Chosen& chosen) {
  if (outcome.validation.empty()) return;
  const auto decisive =
      graph.checkpoint.best ? outcome.validation.find(graph.checkpoint.best->key) : outcome.validation.begin();
  const auto first = decisive == outcome.validation.end() ? outcome.validation.begin() : decisive;
  rows.emplace_back(metric_label(graph, first->first), validated(first->first, first->second, chosen, true));
  for (const auto& [key, value] : outcome.validation) {
    if (key != first->first) rows.emplace_back(metric_label(graph, key), validated(key, value, chosen, false));
  }
}

std::string training(const engine::RunOutcome& outcome) {
  if (outcome.steps_executed == 0) {
    return fmt::format("was complete: {}, {}", counted(static_cast<std::size_t>(outcome.epochs), "epoch"),
                       counted(static_cast<std::size_t>(outcome.steps), "step"));
  }
  const std::string memory =
      outcome.peak_memory <= 0
          ? ""
          : fmt::format(", at most {} of memory", bytes_text(static_cast<uint64_t>(outcome.peak_memory)));
  return fmt::format("{}, {} in {}, {:.0f} samples/s{}", counted(static_cast<std::size_t>(outcome.epochs), "epoch"),
                     counted(static_cast<std::size_t>(outcome.steps), "step"), duration(outcome.train_seconds),
                     outcome.samples_per_second, memory);
}

std::string verified(const engine::ExportOutcome& outcome) {
  std::error_code unknown;
  const std::uintmax_t bytes = fs::file_size(outcome.file, unknown);
  return fmt::format("{}{}, verified: largest error {} over batches of {}", short_path(outcome.file),
                     unknown ? "" : ", " + bytes_text(bytes), short_number(outcome.max_abs_error),
                     fmt::join(outcome.batches, ", "));
}

/// Two columns, or on a narrow terminal the value below its label.
std::string laid_out(const std::vector<Row>& rows, const Console& console) {
  const Paint paint = console.paint();
  const std::size_t width = console.width();
  if (width == 0 || width >= kLeastColumnsOfTable) {
    Table table(2);
    table.style(0, [&](std::string_view text) { return paint.bold(text); });
    for (const auto& [label, value] : rows) table.add({label, value});
    return table.render(width);
  }
  std::string text;
  for (const auto& [label, value] : rows) {
    text += paint.bold(label) + '\n';
    for (const std::string& line : wrap(value, width - 2)) text += fmt::format("  {}\n", line);
  }
  return text;
}

}  // namespace

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
  json["preflight_seconds"] = outcome.preflight_seconds;
  json["train_seconds"] = outcome.train_seconds;
  json["samples_per_second"] = outcome.samples_per_second;
  json["peak_memory"] = outcome.peak_memory;
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
  if (size < 1e-3 || size >= 1e9) return fmt::format("{:.3g}", value);
  return fmt::format("{:.{}f}", value, size < 1e3 ? 4 : size < 1e4 ? 1 : 0);
}

std::string duration(double seconds) {
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string result_table(const core::Graph& graph, const engine::RunOutcome& outcome, const Console& console) {
  const Paint paint = console.paint();
  const Chosen chosen = chosen_checkpoint(outcome);
  std::vector<Row> rows;
  for (const auto& [key, value] : outcome.test) {
    rows.emplace_back(metric_label(graph, key),
                      fmt::format("{}{}", short_number(value), chosen.newest ? "" : " (best)"));
  }
  add_validation(rows, graph, outcome, chosen);
  rows.emplace_back("training", training(outcome));
  if (!outcome.stopped.empty()) rows.emplace_back("stopped early", outcome.stopped);
  rows.emplace_back("run directory", short_path(outcome.directory));
  if (!outcome.checkpoint.empty()) {
    rows.emplace_back(chosen.best ? "best checkpoint" : "last checkpoint", short_path(outcome.checkpoint));
    if (!chosen.newest) rows.emplace_back("last checkpoint", short_path(outcome.last_checkpoint));
  }
  for (const engine::ExportOutcome& each : outcome.exports) rows.emplace_back("export " + each.node, verified(each));
  // On a terminal the lines above are progress.
  return fmt::format("{}{} {}\n\n{}", console.width() > 0 ? "\n" : "", paint.bold(graph.name),
                     paint.green("is trained"), laid_out(rows, console));
}

}  // namespace tenon::host
