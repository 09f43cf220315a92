// Finding what differs, and telling it.
#include <core/resume/contract.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/json/pointer.hpp>
#include <core/resume/contract_rules.hpp>
#include <core/text/source.hpp>
#include <core/text/suggest.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

constexpr std::array<std::string_view, 21> kWords{
    "accumulate", "autotune", "batch",     "clip",     "data",   "determinism", "device",
    "float32",    "isa",      "libtorch",  "loss",     "metric", "model",       "onednn",
    "optimizer",  "other",    "precision", "schedule", "seed",   "threads",     "world"};

using Visit = std::function<void(const Difference&)>;

std::set<std::string> keys_of(const Json& a, const Json& b) {
  std::set<std::string> keys;
  for (const Json* const object : {&a, &b}) {
    for (const auto& [key, value] : object->items()) keys.insert(key);
  }
  return keys;
}

/// Entries of these lists stand for themselves.
bool is_list_of_entries(const std::vector<std::string>& path) {
  return path.size() == 1 && (path[0] == "stop" || path[0] == "observe");
}

bool uses_another(const Json& before, const Json& after) {
  const Json* const was = find_member(before, "use");
  const Json* const is = find_member(after, "use");
  return was != nullptr && is != nullptr && *was != *is;
}

void walk(const Json* before, const Json* after, std::vector<std::string>& path, const Visit& visit) {
  if (before != nullptr && after != nullptr && *before == *after) return;
  const auto descend = [&](const std::string& key, const Json* was, const Json* is) {
    path.push_back(key);
    walk(was, is, path, visit);
    path.pop_back();
  };
  const auto element = [](const Json& list, std::size_t i) { return i < list.size() ? &list[i] : nullptr; };
  if (before != nullptr && after != nullptr && before->is_object() && after->is_object()) {
    // Parameters of another component are others, too: to name each tells nothing.
    const bool other = uses_another(*before, *after);
    for (const std::string& key : keys_of(*before, *after)) {
      if (other && (key == "with" || key == "groups")) continue;
      descend(key, find_member(*before, key), find_member(*after, key));
    }
    return;
  }
  if (before != nullptr && after != nullptr && before->is_array() && after->is_array() &&
      (before->size() == after->size() || is_list_of_entries(path))) {
    for (std::size_t i = 0; i < std::max(before->size(), after->size()); ++i) {
      descend(std::to_string(i), element(*before, i), element(*after, i));
    }
    return;
  }
  const bool section = path.size() == 1 && (path[0] == "nodes" || is_list_of_entries(path));
  const Json* const only = before != nullptr ? before : after;
  if (section && (before == nullptr || after == nullptr) && only->is_structured()) {
    const Json empty = only->is_object() ? Json::object() : Json::array();
    walk(before != nullptr ? before : &empty, after != nullptr ? after : &empty, path, visit);
    return;
  }
  visit({path, before, after});
}

Change change_of(const std::string& root, const Difference& difference, Verdict verdict) {
  Change change;
  change.pointer = root;
  for (const std::string& key : difference.path) change.pointer = child_pointer(change.pointer, key);
  if (difference.before != nullptr) change.before = *difference.before;
  if (difference.after != nullptr) change.after = *difference.after;
  change.effect = verdict.effect;
  change.accept = std::move(verdict.accept);
  change.consequence = std::move(verdict.consequence);
  change.begins_anew = std::move(verdict.begins_anew);
  return change;
}

/// Resolved paths are absolute.
bool is_moved_along(const Difference& difference, const PipelineFolders& folders) {
  if (folders.before.empty() || difference.before == nullptr || difference.after == nullptr) return false;
  if (!difference.before->is_string() || !difference.after->is_string()) return false;
  const std::filesystem::path was(difference.before->get_ref<const std::string&>());
  const std::filesystem::path is(difference.after->get_ref<const std::string&>());
  return was.is_absolute() && is.is_absolute() &&
         was.lexically_relative(folders.before) == is.lexically_relative(folders.now);
}

/// What is switched off is not there.
Json without_disabled(const Json& pipeline) {
  Json enabled = pipeline;
  Json* const nodes = find_value(enabled, "/nodes");
  if (nodes == nullptr || !nodes->is_object()) return enabled;
  Json kept = Json::object();
  for (const auto& [name, node] : nodes->items()) {
    const Json* const disabled = find_member(node, "disabled");
    if (disabled != nullptr && *disabled == true) continue;
    Json plain = node;
    if (plain.is_object()) plain.erase("disabled");
    kept[name] = std::move(plain);
  }
  *nodes = std::move(kept);
  return enabled;
}

/// An optimizer's state belongs to the weights that it was made for.
void add_optimizers_of_new_models(const Graph& graph, std::vector<Change>& changes) {
  const auto begins = [&](const std::string& node) {
    return std::ranges::find(changes, node, &Change::begins_anew) != changes.end();
  };
  for (const Node& node : graph.nodes) {
    if (node.kind != "optimizer" || begins(node.name)) continue;
    const auto model = std::ranges::find_if(node.of, begins);
    if (model == node.of.end()) continue;
    Change change;
    change.pointer = node.pointer;
    change.effect = Effect::kNeedsAccept;
    change.accept = "model";
    change.consequence = fmt::format("its state belongs to the former weights of {} and is dropped", *model);
    change.begins_anew = node.name;
    changes.push_back(std::move(change));
  }
}

constexpr std::size_t kLongest = 32;  // characters of a value that are shown

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// So many characters from `begin` on, with "…" for what is left out on either side.
std::string part_of(const std::string& text, std::size_t begin) {
  const std::size_t most = begin > 0 ? kLongest - 1 : kLongest;
  std::string part = begin > 0 ? "…" : "";
  const std::string rest = text.substr(begin);
  if (count_code_points(rest) <= most) return part + rest;
  std::size_t end = 0;
  for (std::size_t count = 0; count < most - 1; ++count) {
    do {
      ++end;
    } while (continues_character(rest[end]));
  }
  return part + rest.substr(0, end) + "…";
}

std::string text_of(const std::optional<Json>& value) {
  return value ? value->dump(-1, ' ', false, Json::error_handler_t::replace) : "(absent)";
}

/// Where to begin, so that the part of two long texts that is shown differs: a little before they do.
std::size_t begin_of_difference(const std::string& a, const std::string& b) {
  constexpr std::size_t kBefore = 6;
  const auto common = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  if (count_code_points(std::string_view{a}.substr(0, common)) < kLongest - 2) return 0;
  std::size_t begin = common;
  for (std::size_t count = 0; count < kBefore;) {
    --begin;
    if (!continues_character(a[begin])) ++count;
  }
  return begin;
}

/// "before → after"; long values shortened to where they differ.
std::string both(const Change& change) {
  const std::string before = text_of(change.before);
  const std::string after = text_of(change.after);
  const std::size_t begin = begin_of_difference(before, after);
  return fmt::format("{} → {}", part_of(before, begin), part_of(after, begin));
}

std::string outcome(const Change& change) {
  if (change.effect == Effect::kApplied) return fmt::format("applied: {}", change.consequence);
  return fmt::format("needs --accept {}: {}", change.accept, change.consequence);
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, count_code_points(text)), ' ');
}

}  // namespace

std::vector<Change> compare_pipelines(const Json& before, const Json& after, const Graph& graph,
                                      const PipelineFolders& folders) {
  const Json was = without_disabled(before);
  const Json is = without_disabled(after);
  const ContractRules rules(was, is, graph);
  std::vector<Change> changes;
  std::vector<std::string> path;
  walk(&was, &is, path, [&](const Difference& difference) {
    if (is_moved_along(difference, folders)) return;
    changes.push_back(change_of("", difference, rules.of_pipeline(difference)));
  });
  add_optimizers_of_new_models(graph, changes);
  return changes;
}

std::vector<Change> compare_provenance(const Json& before, const Json& now, const Graph& graph) {
  const ContractRules rules(graph.resolved, graph.resolved, graph);
  std::vector<Change> changes;
  std::vector<std::string> path;
  walk(&before, &now, path, [&](const Difference& difference) {
    changes.push_back(change_of("/provenance", difference, rules.of_provenance(difference)));
  });
  return changes;
}

void require_accepted(std::span<const Change> changes, const std::set<std::string>& accepted) {
  std::vector<Change> refused;
  std::set<std::string> words;
  for (const Change& change : changes) {
    if (change.effect == Effect::kApplied || accepted.contains(change.accept)) continue;
    refused.push_back(change);
    words.insert(change.accept);
  }
  if (refused.empty()) return;
  std::string options;
  for (const std::string& word : words) options += fmt::format(" --accept {}", word);
  throw Error(
      ErrorCode::kConfig,
      fmt::format("{} that training depends on changed since the checkpoint, so that the run is not continued:\n"
                  "{}to continue it all the same add{}; to start a new run instead: --resume never",
                  refused.size() == 1 ? "a value" : fmt::format("{} values", refused.size()), render(refused),
                  options));
}

std::span<const std::string_view> accept_words() noexcept { return kWords; }

std::vector<std::string> accept_words(const Graph& graph) {
  std::set<std::string> words(kWords.begin(), kWords.end());
  for (const Node& node : graph.nodes) {
    if (node.kind != "optimizer") continue;
    for (const auto& [name, value] : node.with.items()) words.insert(name);
  }
  return {words.begin(), words.end()};
}

void check_accept_words(const std::set<std::string>& accepted, const Graph& graph) {
  const std::vector<std::string> words = accept_words(graph);
  std::vector<std::string> mistakes;
  for (const std::string& word : accepted) {
    if (std::ranges::find(words, word) != words.end()) continue;
    const std::string hint = did_you_mean(word, words);
    mistakes.push_back(
        fmt::format("--accept does not know {}{}{}", core::quoted(word), hint.empty() ? "" : "; ", hint));
  }
  if (mistakes.empty()) return;
  throw Error(ErrorCode::kConfig, fmt::format("{} (it takes {})", fmt::join(mistakes, "; "), fmt::join(words, ", ")));
}

std::string render(std::span<const Change> changes) {
  struct Row {
    std::string place;
    std::string values;
    std::string outcome;
  };
  std::vector<Row> rows;
  std::size_t place_width = 0;
  std::size_t values_width = 0;
  for (const Change& change : changes) {
    Row row{dotted_path(change.pointer), "", outcome(change)};
    if (change.before || change.after) {
      row.values = both(change);
    }
    place_width = std::max(place_width, count_code_points(row.place));
    values_width = std::max(values_width, count_code_points(row.values));
    rows.push_back(std::move(row));
  }
  std::string text;
  for (const Row& row : rows) {
    text +=
        fmt::format("  {}  {}  {}\n", padded(row.place, place_width), padded(row.values, values_width), row.outcome);
  }
  return text;
}

}  // namespace tenon::core
