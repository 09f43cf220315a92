// Files of two run directories side by side.
#include <host/run_diff.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/json/pointer.hpp>
#include <core/storage/canonical_json.hpp>
#include <core/storage/event_log.hpp>
#include <core/storage/file.hpp>
#include <core/storage/run_directory.hpp>
#include <host/pipeline.hpp>
#include <host/table.hpp>

namespace tenon::host {
namespace {

namespace fs = std::filesystem;

using core::Json;

Json read_if_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) ? core::read_json(path) : Json();
}

/// A list of objects as an object by one of their members, so that their order is no difference. A list that is not so
/// stays as it is.
void key_by(Json& json, const std::string& list, const std::string& member) {
  const Json* const entries = core::find_member(json, list);
  if (entries == nullptr || !entries->is_array()) return;
  Json by_name = Json::object();
  for (const Json& entry : *entries) {
    const Json* const name = core::find_member(entry, member);
    if (name == nullptr || !name->is_string()) return;
    Json rest = entry;
    rest.erase(member);
    by_name[name->get<std::string>()] = std::move(rest);
  }
  json[list] = std::move(by_name);
}

/// Takes the values of one line of the log that may stay to the end.
void take_results(std::string_view line, std::map<std::string, double>& results) {
  const Json event = Json::parse(line, nullptr, false);
  const Json* const name = core::find_member(event, "event");
  const Json* const values = core::find_member(event, "values");
  if (name == nullptr || !name->is_string()) return;
  if (const Json* const step = core::find_member(event, "step"); step != nullptr && step->is_number()) {
    results["steps"] = step->get<double>();
  }
  if (values == nullptr || !values->is_object()) return;
  const auto& word = name->get_ref<const std::string&>();
  for (const auto& [key, value] : values->items()) {
    const bool measured = word == "validate" || word == "test";
    if (!measured && word != "best" && !key.starts_with("train.loss")) continue;
    try {
      results[word == "best" ? "best " + key : key] = core::number_of(value);
    } catch (const Error&) {
      continue;  // no number: a line that another program wrote
    }
  }
}

std::map<std::string, double> read_results(const fs::path& log) {
  std::map<std::string, double> results;
  std::error_code ignored;
  if (!fs::exists(log, ignored)) return results;
  const core::OpenedFile opened = core::open_for_reading(log, ErrorCode::kStorage);
  core::visit_lines(opened.file, opened.size, log,
                    [&](const core::LogLine& line) { take_results(line.text, results); });
  return results;
}

std::string state_of(const fs::path& run) {
  if (core::is_live(run)) return "running";
  const std::optional<Json> event = core::last_event(run / "log.jsonl");
  if (!event || event->value("event", Json()) != "run_end") return "not finished";
  return fmt::format("finished: {}", event->value("text", ""));
}

std::string number_text(const double* value) { return value == nullptr ? "-" : fmt::format("{}", *value); }

}  // namespace

RunRecord read_run_record(const fs::path& run) {
  RunRecord record;
  record.path = run;
  record.config = read_if_there(run / "config.resolved.json");
  record.environment = read_if_there(run / "environment.json");
  record.lock = read_if_there(run / "lock.json");
  key_by(record.environment, "variables", "name");
  key_by(record.lock, "plugins", "id");
  record.state = state_of(run);
  record.results = read_results(run / "log.jsonl");
  return record;
}

bool RunDiff::Result::equal() const {
  if (one == nullptr || other == nullptr) return one == other;
  return *one == *other || (std::isnan(*one) && std::isnan(*other));
}

RunDiff::RunDiff(const RunRecord& one, const RunRecord& other) : one_(&one), other_(&other) {
  parts_.push_back({"Configuration",
                    "configuration",
                    "configuration difference",
                    "config.resolved.json",
                    &one.config,
                    &other.config,
                    {}});
  parts_.push_back({"Environment",
                    "environment",
                    "environment difference",
                    "environment.json",
                    &one.environment,
                    &other.environment,
                    {}});
  parts_.push_back({"Plugins and libtorch", "lock", "lock difference", "lock.json", &one.lock, &other.lock, {}});
  for (Part& part : parts_) part.changes = differences(*part.one, *part.other);
  for (const auto& [key, value] : one.results) {
    const auto found = other.results.find(key);
    results_.push_back({key, &value, found == other.results.end() ? nullptr : &found->second});
  }
  for (const auto& [key, value] : other.results) {
    if (!one.results.contains(key)) results_.push_back({key, nullptr, &value});
  }
}

bool RunDiff::equal() const {
  return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.changes.empty(); }) &&
         std::all_of(results_.begin(), results_.end(), [](const Result& result) { return result.equal(); }) &&
         one_->state == other_->state;
}

std::string RunDiff::summary() const {
  std::vector<std::string> texts;
  const auto add = [&](std::size_t count, std::string_view noun) {
    if (count > 0) texts.push_back(counted(count, noun));
  };
  for (const Part& part : parts_) add(part.changes.size(), part.noun);
  add(static_cast<std::size_t>(
          std::count_if(results_.begin(), results_.end(), [](const Result& result) { return !result.equal(); })),
      "result");
  if (one_->state != other_->state) texts.emplace_back("how they ended");
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string RunDiff::results_text(const Console& console) const {
  const Paint paint = console.paint();
  Table table(2);
  table.style(0, [&](std::string_view text) { return paint.bold(text); });
  table.add({"", "A", "B", "B - A"});
  for (const Result& result : results_) {
    const bool both = result.one != nullptr && result.other != nullptr;
    std::string gap = result.equal() ? "" : both ? fmt::format("{:+.4g}", *result.other - *result.one) : "";
    table.add({result.key, number_text(result.one), number_text(result.other), std::move(gap)});
  }
  return fmt::format("\n{}\n{}", paint.bold("Results"), table.render(console.width()));
}

std::string RunDiff::text(const Console& console) const {
  const Paint paint = console.paint();
  Table head;
  head.style(0, [&](std::string_view text) { return paint.bold(text); });
  head.add({"A", one_->path.string(), one_->state});
  head.add({"B", other_->path.string(), other_->state});
  std::string out = head.render(console.width());
  for (const Part& part : parts_) {
    if (part.changes.empty()) continue;
    Table table(2);
    table.limit(0, 48);
    for (const ValueChange& change : part.changes) {
      if (change.pointer.empty()) {
        // One of the files is not there, or is no object.
        const bool missing_in_a = part.one->is_null();
        const bool missing = missing_in_a || part.other->is_null();
        table.add({missing ? fmt::format("{} has no {}", missing_in_a ? "A" : "B", part.file) : part.file});
      } else {
        table.add({core::dotted_path(change.pointer), to_string(change)});
      }
    }
    out += fmt::format("\n{}\n{}", paint.bold(part.title), table.render(console.width()));
  }
  return results_.empty() ? out : out + results_text(console);
}

Json RunDiff::json() const {
  Json json{{"state", {{"a", one_->state}, {"b", other_->state}}}};
  for (const Part& part : parts_) {
    json[part.key] = Json::array();
    for (const ValueChange& change : part.changes) {
      Json entry = change_json(change);
      if (change.before != nullptr) entry["a"] = *change.before;
      if (change.after != nullptr) entry["b"] = *change.after;
      json[part.key].push_back(std::move(entry));
    }
  }
  json["results"] = Json::object();
  for (const Result& result : results_) {
    Json& entry = json["results"][result.key];
    entry = Json::object();
    if (result.one != nullptr) entry["a"] = core::number_json(*result.one);
    if (result.other != nullptr) entry["b"] = core::number_json(*result.other);
  }
  return json;
}

}  // namespace tenon::host
