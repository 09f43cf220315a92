// The index beside the checkpoints, and retention as a set that is computed before anything is removed.
#include <core/storage/checkpoint_index.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include <core/storage/atomic_file.hpp>
#include <core/storage/canonical_json.hpp>
#include <core/storage/checkpoint.hpp>
#include <core/storage/event_log.hpp>
#include <core/storage/file.hpp>

namespace tenon::core {
namespace {

constexpr const char* kFile = "index.json";
constexpr int64_t kFormat = 1;

Json json_of(const CheckpointRecord& record) {
  Json metrics = Json::object();
  for (const auto& [key, value] : record.metrics) {
    metrics[key] = number_json(value);
  }
  Json pending = Json::array();
  if (record.pending_validation) pending.push_back("validate");
  Json json = {{"step", record.step},           {"epoch", record.epoch}, {"metrics", std::move(metrics)},
               {"wall_time", record.wall_time}, {"pending", pending},    {"kept", record.kept}};
  if (record.interim) json["interim"] = true;
  return json;
}

CheckpointRecord record_of(const Json& json) {
  CheckpointRecord record;
  record.step = json.at("step").get<int64_t>();
  record.epoch = json.at("epoch").get<int64_t>();
  for (const auto& [key, value] : json.at("metrics").items()) {
    record.metrics[key] = number_of(value);
  }
  record.wall_time = number_of(json.at("wall_time"));
  record.pending_validation = !json.at("pending").empty();
  record.kept = json.at("kept").get<bool>();
  record.interim = json.value("interim", false);
  return record;
}

auto place_of(std::vector<CheckpointRecord>& history, int64_t step) {
  return std::ranges::lower_bound(history, step, {}, &CheckpointRecord::step);
}

std::optional<int64_t> winner(std::span<const CheckpointRecord> history, const RetentionRule& rule) {
  const std::vector<int64_t> winners = best_steps(history, rule.metric, rule.direction, 1);
  return winners.empty() ? std::nullopt : std::optional(winners.front());
}

/// As much of a record as a checkpoint's folder tells; a damaged one tells its step alone.
CheckpointRecord record_of(const CheckpointPlace& place) {
  CheckpointRecord record;
  record.step = place.step;
  std::error_code error;
  const auto written = std::filesystem::last_write_time(place.path / "manifest.json", error);
  if (!error) {
    const auto since = std::chrono::file_clock::to_sys(written).time_since_epoch();
    record.wall_time = std::chrono::duration<double>(since).count();
  }
  try {
    const Json state = read_json(place.path / "state.json");
    record.epoch = state.at("training").at("epoch").get<int64_t>();
    record.pending_validation = !state.at("pending").empty();
    record.interim = state.value("interim", false);
  } catch (const Error&) {
    return record;
  } catch (const Json::exception&) {
    return record;
  }
  return record;
}

/// The folders decide about what is there.
void match_folders(CheckpointIndex& index, const std::filesystem::path& checkpoints,
                   std::vector<std::string>& messages) {
  for (CheckpointRecord& record : index.history) record.kept = false;
  for (const CheckpointPlace& place : list_checkpoints(checkpoints)) {
    const auto found = place_of(index.history, place.step);
    if (found != index.history.end() && found->step == place.step) {
      found->kept = true;
    } else {
      index.history.insert(found, record_of(place));
    }
  }
  const auto newest = std::ranges::find(index.history.rbegin(), index.history.rend(), true, &CheckpointRecord::kept);
  index.last = newest == index.history.rend() ? std::nullopt : std::optional(newest->step);
  const CheckpointRecord* const best = index.best ? index.find(*index.best) : nullptr;
  if (!index.best || (best != nullptr && best->kept)) return;
  messages.push_back(
      fmt::format("the best checkpoint, {}, is not there any more: the best of those that are left counts",
                  step_name(*index.best)));
  index.best.reset();
}

}  // namespace

void CheckpointIndex::add(CheckpointRecord record) {
  last = record.step;
  const auto place = place_of(history, record.step);
  if (place != history.end() && place->step == record.step) {
    *place = std::move(record);
  } else {
    history.insert(place, std::move(record));
  }
}

bool CheckpointIndex::validated(int64_t step, const std::map<std::string, double>& metrics, const RetentionRule& rule) {
  const auto place = place_of(history, step);
  if (place == history.end() || place->step != step) return false;
  place->metrics = metrics;
  place->pending_validation = false;
  const std::optional<int64_t> before = best;
  best = winner(history, rule);
  return best == step && before != step;
}

void CheckpointIndex::rewind(int64_t step, bool pending_validation, const RetentionRule& rule) {
  std::erase_if(history, [step](const CheckpointRecord& record) { return record.step > step; });
  if (history.empty() || history.back().step != step) {
    CheckpointRecord record;
    record.step = step;
    history.push_back(std::move(record));
  }
  CheckpointRecord& record = history.back();
  record.kept = true;
  record.pending_validation = pending_validation;
  if (pending_validation) record.metrics.clear();
  last = step;
  best = winner(history, rule);
}

void CheckpointIndex::take_metrics_from(const std::filesystem::path& log) {
  std::error_code error;
  if (!std::filesystem::exists(log, error)) return;
  const OpenedFile opened = open_for_reading(log, ErrorCode::kStorage);
  visit_lines(opened.file, opened.size, log, [&](const LogLine& line) {
    if (line.text.find("\"validate\"") == std::string_view::npos) return;
    const Json json = Json::parse(line.text, nullptr, false);
    if (!json.is_object() || json.value("event", "") != "validate" || !json.contains("values")) return;
    const auto place = place_of(history, json.value("step", int64_t{-1}));
    if (place == history.end() || place->step != json["step"] || !place->metrics.empty()) return;
    for (const auto& [key, value] : json["values"].items()) place->metrics[key] = number_of(value);
  });
}

const CheckpointRecord* CheckpointIndex::find(int64_t step) const noexcept {
  const auto place = std::ranges::lower_bound(history, step, {}, &CheckpointRecord::step);
  return place != history.end() && place->step == step ? &*place : nullptr;
}

CheckpointIndex CheckpointIndex::load(const std::filesystem::path& checkpoints) {
  const std::filesystem::path path = checkpoints / kFile;
  std::error_code error;
  CheckpointIndex index;
  if (!std::filesystem::exists(path, error) && !error) return index;
  const Json json = read_json(path);
  try {
    if (const auto format = json.at("format").get<int64_t>(); format != kFormat) {
      throw Error(ErrorCode::kCheckpoint,
                  fmt::format("{} has format {}, this Tenon reads format {}", path.string(), format, kFormat));
    }
    if (json.contains("last")) index.last = json["last"].get<int64_t>();
    if (json.contains("best")) index.best = json["best"].get<int64_t>();
    for (const Json& record : json.at("history")) {
      index.history.push_back(record_of(record));
    }
  } catch (const Json::exception& failure) {
    throw Error(ErrorCode::kCheckpoint, fmt::format("{} is damaged: {}", path.string(), failure.what()));
  }
  std::ranges::sort(index.history, {}, &CheckpointRecord::step);
  return index;
}

CheckpointIndex CheckpointIndex::load_or_rebuild(const std::filesystem::path& checkpoints,
                                                 std::vector<std::string>& messages) {
  CheckpointIndex index;
  try {
    index = load(checkpoints);
  } catch (const Error& error) {
    messages.push_back(
        fmt::format("{}: it was made anew from the checkpoints that are there and from the log", error.what()));
  }
  const bool missing = index.history.empty() && messages.empty();
  match_folders(index, checkpoints, messages);
  if (missing && !index.history.empty()) {
    messages.push_back(
        fmt::format("{} is missing or empty: it was made anew from the checkpoints that are there "
                    "and from the log",
                    (checkpoints / kFile).string()));
  }
  return index;
}

void CheckpointIndex::save(const std::filesystem::path& checkpoints) const {
  Json json = {{"format", kFormat}, {"history", Json::array()}};
  if (last) json["last"] = *last;
  if (best) json["best"] = *best;
  for (const CheckpointRecord& record : history) {
    json["history"].push_back(json_of(record));
  }
  write_atomically(checkpoints / kFile, canonical_text(json));
}

std::vector<int64_t> best_steps(std::span<const CheckpointRecord> history, const std::string& metric,
                                Direction direction, int64_t count) {
  struct Candidate {
    int64_t step;
    double value;
  };
  std::vector<Candidate> candidates;
  for (const CheckpointRecord& record : history) {
    const auto value = record.metrics.find(metric);
    if (record.kept && !record.interim && value != record.metrics.end() && std::isfinite(value->second)) {
      candidates.push_back({record.step, value->second});
    }
  }
  std::ranges::sort(candidates, [direction](const Candidate& a, const Candidate& b) {
    if (better(a.value, b.value, direction)) return true;
    return !better(b.value, a.value, direction) && a.step < b.step;
  });
  std::vector<int64_t> steps;
  for (const Candidate& candidate : candidates) {
    if (std::ssize(steps) >= count) break;
    steps.push_back(candidate.step);
  }
  return steps;
}

std::vector<int64_t> superfluous(std::span<const CheckpointRecord> history, const RetentionRule& rule) {
  std::vector<int64_t> kept;
  std::vector<int64_t> planned;  // the same without interim ones
  for (const CheckpointRecord& record : history) {
    if (record.kept) kept.push_back(record.step);
    if (record.kept && !record.interim) planned.push_back(record.step);
  }
  std::ranges::sort(kept);
  std::ranges::sort(planned);
  const int64_t newest = std::clamp<int64_t>(std::max<int64_t>(rule.last, 1), 0, std::ssize(planned));
  std::set<int64_t> needed(planned.end() - newest, planned.end());
  if (!kept.empty()) needed.insert(kept.back());
  for (const int64_t step : best_steps(history, rule.metric, rule.direction, rule.best)) {
    needed.insert(step);
  }
  std::erase_if(kept, [&needed](int64_t step) { return needed.contains(step); });
  return kept;
}

void apply_retention(const std::filesystem::path& checkpoints, CheckpointIndex& index, const RetentionRule& rule) {
  const std::vector<int64_t> steps = superfluous(index.history, rule);
  if (steps.empty()) return;
  for (const int64_t step : steps) {
    place_of(index.history, step)->kept = false;
  }
  index.save(checkpoints);
  for (const int64_t step : steps) {
    std::error_code error;
    // Hidden by one rename first: a kill in between must not leave half a checkpoint under a final name.
    const std::filesystem::path folder = checkpoints / step_name(step);
    const std::filesystem::path hidden = temporary_beside(folder, 0);
    std::filesystem::rename(folder, hidden, error);
    if (error == std::errc::no_such_file_or_directory) continue;
    if (!error) std::filesystem::remove_all(hidden, error);
    if (error) throw storage_error("remove", folder, error.value());
  }
}

}  // namespace tenon::core
