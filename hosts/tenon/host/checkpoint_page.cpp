// Layout of the pages of `inspect`.
#include <host/checkpoint_page.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/json/pointer.hpp>
#include <core/storage/canonical_json.hpp>
#include <core/storage/checkpoint.hpp>
#include <core/storage/checkpoint_index.hpp>
#include <host/json_text.hpp>
#include <host/pipeline.hpp>
#include <host/run_summary.hpp>
#include <host/table.hpp>

namespace tenon::host {
namespace {

namespace fs = std::filesystem;

using core::find_value;
using core::Json;

struct Sums {
  std::size_t tensors = 0;
  int64_t elements = 0;
  uint64_t bytes = 0;
};

Sums sums_of(const FileFacts& file) {
  Sums sums;
  for (const TensorFacts& tensor : file.tensors) {
    ++sums.tensors;
    sums.elements += elements(tensor.shape);
    sums.bytes += tensor.bytes;
  }
  return sums;
}

Sums sums_of(const CheckpointFacts& facts) {
  Sums all;
  for (const FileFacts& file : facts.files) {
    const Sums sums = sums_of(file);
    all.tensors += sums.tensors;
    all.elements += sums.elements;
    all.bytes += sums.bytes;
  }
  return all;
}

std::string text_of(const Sums& sums) {
  return fmt::format("{}, {}, {}", counted(sums.tensors, "tensor"),
                     counted(static_cast<std::size_t>(sums.elements), "element"), bytes_text(sums.bytes));
}

void read_tensors(const fs::path& path, bool statistics, FileFacts& file) {
  if (path.extension() != ".safetensors") return;
  try {
    const core::Safetensors all = core::Safetensors::read(path);
    for (const core::Safetensors::Tensor& tensor : all.tensors()) {
      file.tensors.push_back({tensor.name, std::string(name_of(tensor.array.dtype)), tensor.shape, tensor.array.bytes(),
                              statistics ? core::statistics_of(tensor.array) : core::ElementStatistics{}});
    }
    file.aliases = all.aliases();
  } catch (const Error& error) {
    if (file.checked.problem.empty()) file.checked.problem = error.what();
  }
}

/// What index.json says of a checkpoint; nothing where there is none, or the checkpoint lies elsewhere.
std::optional<core::CheckpointRecord> read_record(const fs::path& checkpoint) {
  const std::optional<int64_t> step = core::step_of(checkpoint.filename().string());
  if (!step) return std::nullopt;
  try {
    const core::CheckpointIndex index = core::CheckpointIndex::load(checkpoint.parent_path());
    const core::CheckpointRecord* const record = index.find(*step);
    return record == nullptr ? std::nullopt : std::optional(*record);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// A text as it is, anything else as JSON.
std::string plain(const Json& value) { return value.is_string() ? value.get<std::string>() : spaced(value); }

std::string text_at(const Json& state, std::string_view pointer) {
  const Json* const value = find_value(state, pointer);
  return value == nullptr ? "?" : plain(*value);
}

std::string position_text(const Json& state) {
  return fmt::format("step {} ({} applied), epoch {}, micro-batch {}, {} samples", text_at(state, "/training/step"),
                     text_at(state, "/training/applied"), text_at(state, "/training/epoch"),
                     text_at(state, "/training/batch"), text_at(state, "/training/samples"));
}

Table table_of(const Console& console, std::size_t indent) {
  Table table(indent);
  table.style(0, [paint = console.paint()](std::string_view text) { return paint.bold(text); });
  return table;
}

std::string section(std::string_view title, const Table& table, const Console& console) {
  if (table.empty()) return "";
  return fmt::format("\n{}\n{}", console.paint().bold(title), table.render(console.width()));
}

/// A row a value, with the keys that lead to it joined.
void add_values(Table& table, const std::string& name, const Json& value) {
  if (value.is_object() && !value.empty()) {
    for (const auto& [key, member] : value.items())
      add_values(table, name.empty() ? key : fmt::format("{}.{}", name, key), member);
  } else {
    table.add({name, plain(value)});
  }
}

std::string provenance_section(const CheckpointFacts& facts, const Console& console) {
  Table table = table_of(console, 2);
  if (const Json* const provenance = find_value(facts.state, "/provenance")) add_values(table, "", *provenance);
  return section("Provenance", table, console);
}

std::string metrics_section(const CheckpointFacts& facts, const Console& console) {
  Table table = table_of(console, 2);
  for (const auto& [key, value] : facts.metrics) table.add({key, fmt::format("{}", value)});
  return section("Metrics", table, console);
}

std::string state_section(const CheckpointFacts& facts, const Console& console) {
  Table table(2);
  const auto add = [&](const std::string& owner, const Json& scalars) {
    if (!scalars.is_object()) return;
    for (const auto& [name, value] : scalars.items()) table.add({owner, name, plain(value)});
  };
  if (const Json* const components = find_value(facts.state, "/components"); components && components->is_object()) {
    for (const auto& [node, scalars] : components->items()) add(node, scalars);
  }
  if (const Json* const stop = find_value(facts.state, "/stop"); stop && stop->is_array()) {
    for (std::size_t i = 0; i < stop->size(); ++i) {
      const Json* const scalars = find_value((*stop)[i], "/state");
      add(fmt::format("stop.{} ({})", i, text_at((*stop)[i], "/use")), scalars == nullptr ? Json() : *scalars);
    }
  }
  return section("State of components", table, console);
}

std::vector<std::string> cells_of(const TensorFacts& tensor, bool statistics) {
  std::vector<std::string> cells{tensor.name, fmt::format("{}[{}]", tensor.type, fmt::join(tensor.shape, ", ")),
                                 bytes_text(tensor.bytes)};
  if (!statistics) return cells;
  if (const auto& finite = tensor.statistics.finite) {
    for (const double value : {finite->min, finite->max, finite->mean}) cells.push_back(short_number(value));
  } else {
    cells.insert(cells.end(), 3, "-");
  }
  cells.push_back(fmt::format("{}", tensor.statistics.non_finite));
  return cells;
}

std::string tensors_section(const CheckpointFacts& facts, const Console& console) {
  std::string out;
  for (const FileFacts& file : facts.files) {
    if (file.tensors.empty()) continue;
    Table table(2);
    if (facts.statistics) table.add({"", "", "", "min", "max", "mean", "not finite"});
    for (const TensorFacts& tensor : file.tensors) table.add(cells_of(tensor, facts.statistics));
    for (const auto& [alias, name] : file.aliases) table.add({alias, fmt::format("the same as {}", name)});
    out += section(fmt::format("{}: {}", file.checked.listed.name, text_of(sums_of(file))), table, console);
  }
  return out;
}

std::string files_section(const CheckpointFacts& facts, const Console& console) {
  Table table(2);
  for (const FileFacts& file : facts.files) {
    const core::CheckpointFile& listed = file.checked.listed;
    const bool sound = file.checked.problem.empty();
    table.add({listed.name, bytes_text(listed.bytes), listed.sha256,
               sound ? "verified" : fmt::format("damaged: {}", file.checked.problem)});
  }
  return section("Files (SHA-256)", table, console);
}

Json json_of(const TensorFacts& tensor, bool statistics) {
  Json json{{"name", tensor.name}, {"dtype", tensor.type}, {"shape", tensor.shape}, {"bytes", tensor.bytes}};
  if (!statistics) return json;
  if (const auto& finite = tensor.statistics.finite) {
    json["min"] = finite->min;
    json["max"] = finite->max;
    json["mean"] = finite->mean;
  }
  json["non_finite"] = tensor.statistics.non_finite;
  return json;
}

Json json_of(const FileFacts& file, bool statistics) {
  const core::CheckpointFile& listed = file.checked.listed;
  Json json{{"name", listed.name}, {"bytes", listed.bytes}, {"sha256", listed.sha256}};
  json["verified"] = file.checked.problem.empty();
  if (!file.checked.problem.empty()) json["problem"] = file.checked.problem;
  if (!file.tensors.empty()) json["tensors"] = Json::array();
  for (const TensorFacts& tensor : file.tensors) json["tensors"].push_back(json_of(tensor, statistics));
  for (const auto& [alias, name] : file.aliases) json["aliases"][alias] = name;
  return json;
}

}  // namespace

std::vector<std::string> CheckpointFacts::problems() const {
  std::vector<std::string> found;
  for (const FileFacts& file : files) {
    if (!file.checked.problem.empty()) {
      found.push_back(fmt::format("{}: {}", file.checked.listed.name, file.checked.problem));
    }
  }
  return found;
}

CheckpointFacts read_facts(const fs::path& checkpoint, bool statistics) {
  CheckpointFacts facts;
  facts.path = checkpoint;
  facts.statistics = statistics;
  for (core::CheckedFile& checked : core::check_files(checkpoint)) {
    FileFacts& file = facts.files.emplace_back();
    file.checked = std::move(checked);
    const std::string name = file.checked.listed.name;
    read_tensors(checkpoint / name, statistics, file);
    if (name != "state.json") continue;
    try {
      facts.state = core::read_json(checkpoint / name);
    } catch (const Error& error) {
      if (file.checked.problem.empty()) file.checked.problem = error.what();
    }
  }
  const std::optional<core::CheckpointRecord> record = read_record(checkpoint);
  if (record) facts.metrics = record->metrics;
  const Json* const pending = find_value(facts.state, "/pending");
  if (pending != nullptr && pending->is_array() && (!record || record->pending_validation)) facts.pending = *pending;
  return facts;
}

std::string checkpoint_summary(const CheckpointFacts& facts, const Console& console) {
  Table table = table_of(console, 0);
  table.add({"checkpoint", facts.path.string()});
  if (!facts.state.is_null()) {
    table.add({"pipeline", text_at(facts.state, "/pipeline")});
    table.add({"position", position_text(facts.state)});
    if (find_value(facts.state, "/stopped") != nullptr) table.add({"stopped", text_at(facts.state, "/stopped")});
    if (!facts.pending.empty()) table.add({"pending", text_at(facts.pending, "/0")});
  }
  table.add({"tensors", text_of(sums_of(facts))});
  uint64_t bytes = 0;
  for (const FileFacts& file : facts.files) bytes += file.checked.listed.bytes;
  const std::size_t damaged = facts.problems().size();
  table.add({"files", fmt::format("{}, {}, {}", counted(facts.files.size(), "file"), bytes_text(bytes),
                                  damaged == 0 ? "verified" : fmt::format("{} damaged", damaged))});
  return table.render(console.width());
}

std::string checkpoint_page(const CheckpointFacts& facts, const Console& console) {
  return checkpoint_summary(facts, console) + metrics_section(facts, console) + provenance_section(facts, console) +
         tensors_section(facts, console) + state_section(facts, console) + files_section(facts, console);
}

Json checkpoint_json(const CheckpointFacts& facts) {
  Json json{{"checkpoint", facts.path.string()}, {"verified", facts.problems().empty()}};
  constexpr std::array<std::pair<const char*, const char*>, 7> kParts{{{"pipeline", "/pipeline"},
                                                                       {"position", "/training"},
                                                                       {"stopped", "/stopped"},
                                                                       {"interim", "/interim"},
                                                                       {"provenance", "/provenance"},
                                                                       {"components", "/components"},
                                                                       {"stop", "/stop"}}};
  for (const auto& [name, pointer] : kParts) {
    if (const Json* const value = find_value(facts.state, pointer)) json[name] = *value;
  }
  json["pending"] = facts.pending;
  json["metrics"] = Json::object();
  for (const auto& [key, value] : facts.metrics) json["metrics"][key] = core::number_json(value);
  const Sums sums = sums_of(facts);
  json["tensors"] = {{"count", sums.tensors}, {"elements", sums.elements}, {"bytes", sums.bytes}};
  json["files"] = Json::array();
  for (const FileFacts& file : facts.files) json["files"].push_back(json_of(file, facts.statistics));
  return json;
}

std::string bytes_text(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  constexpr std::array<std::string_view, 4> kUnits{"KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1023.95 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace tenon::host
