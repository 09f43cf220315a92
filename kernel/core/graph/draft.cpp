// Reports of the stages, and references to nodes.
#include <core/graph/draft.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/json/pointer.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

constexpr std::size_t kMostProposals = 200;
constexpr std::size_t kMostNames = 12;

void insert_with_ancestors(std::unordered_set<std::string>& places, std::string_view pointer) {
  while (places.emplace(pointer).second && !pointer.empty()) pointer = parent_pointer(pointer);
}

/// An error here cannot be why a node or a link seems to be missing.
bool leaves_links_alone(const Diagnostic& diagnostic) {
  if (diagnostic.severity != Severity::kError) return true;
  static constexpr std::array<std::string_view, 15> kCodes{
      "dtype-mismatch",   "shape-mismatch",    "no-optimizer",          "two-optimizers",        "no-gradient",
      "unreached",        "frozen-model",      "missing-file",          "idle-optimizer",        "must-agree",
      "fitted-elsewhere", "random-evaluation", "random-before-dataset", "fitted-before-dataset", "sampled-evaluation"};
  if (std::find(kCodes.begin(), kCodes.end(), diagnostic.code) != kCodes.end()) return true;
  const std::vector<std::string> segments = split_pointer(diagnostic.pointer);
  if (segments.empty()) return false;
  static constexpr std::array<std::string_view, 5> kSections{"run", "vars", "stop", "observe", "checkpoint"};
  if (segments.size() > 1 && std::find(kSections.begin(), kSections.end(), segments[0]) != kSections.end()) return true;
  return segments.size() > 3 && segments[0] == "nodes" && (segments[2] == "with" || segments[2] == "groups");
}

}  // namespace

bool is_data_kind(std::string_view kind) noexcept {
  return kind == "dataset" || kind == "transform" || kind == "loader";
}

bool is_step_kind(std::string_view kind) noexcept { return kind == "model" || kind == "loss" || kind == "metric"; }

std::string with_article(std::string_view kind) {
  const bool vowel = !kind.empty() && std::string_view("aeiou").find(kind.front()) != std::string_view::npos;
  return fmt::format("{} {}", vowel ? "an" : "a", kind);
}

std::string plural(std::string_view kind) {
  const std::string_view ending = kind.ends_with("ed") ? "" : kind.ends_with('s') ? "es" : "s";
  return fmt::format("{}{}", kind, ending);
}

std::string list_names(std::span<const std::string> names) {
  if (names.empty()) return "none";
  const std::span<const std::string> shown = names.first(std::min(names.size(), kMostNames));
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (shown.size() < names.size()) text += fmt::format(", … ({} more)", names.size() - shown.size());
  return text;
}

Draft::Draft(Resolved& merged, const Catalogue& installed, const Diagnostics& earlier, Diagnostics& found)
    : resolved(merged), catalogue(installed), earlier_(earlier), found_(found) {
  for (const Diagnostic& diagnostic : earlier_.all()) {
    if (diagnostic.severity != Severity::kError) continue;
    told_.insert(diagnostic.pointer);
    told_parents_.emplace(parent_pointer(diagnostic.pointer));
    insert_with_ancestors(places_, diagnostic.pointer);
    note_broken_links(diagnostic);
  }
}

Diagnostic Draft::at_value(std::string_view pointer, std::string code, std::string message) const {
  return resolved.error_at_value(pointer, std::move(code), std::move(message));
}

Diagnostic Draft::at_key(std::string_view pointer, std::string code, std::string message) const {
  return resolved.error_at_key(pointer, std::move(code), std::move(message));
}

void Draft::propose(Diagnostic& diagnostic, const std::string& text) const {
  diagnostic.label = fmt::format("did you mean {}?", core::quoted(text));
  const Located place = resolved.locate(diagnostic.pointer);
  const bool is_key =
      place.key && diagnostic.span.begin == place.key.begin && diagnostic.span.source == place.key.source;
  const Span& mended = is_key ? place.key : place.editable;
  if (mended) diagnostic.suggestion = Suggestion{mended, Json(text).dump(), Applicability::kMaybe};
}

std::optional<std::string> Draft::propose_nearest(Diagnostic& diagnostic, std::string_view name,
                                                  std::span<const std::string> candidates) {
  if (++proposals_ > kMostProposals) return std::nullopt;
  std::optional<std::string> found = nearest(name, candidates);
  if (found) propose(diagnostic, *found);
  return found;
}

void Draft::propose_lower_node(Diagnostic& diagnostic, NodeId id, const std::string& otherwise) {
  const auto origin_of = [this](const DraftNode& each) -> const Origin& { return resolved.origin(each.node.pointer); };
  const Origin& own = origin_of(nodes[id]);
  std::vector<std::string> names;
  for (const DraftNode& each : nodes) {
    const Origin& other = origin_of(each);
    if (other.kind <= own.kind && other.key.source != own.key.source) names.push_back(each.node.name);
  }
  const std::optional<std::string> meant = propose_nearest(diagnostic, nodes[id].node.name, names);
  if (!meant) return;
  diagnostic.label += fmt::format(" else {}", otherwise);
  point_at(diagnostic, index.at(*meant), "may have been meant");
}

void Draft::point_at(Diagnostic& diagnostic, NodeId id, std::string text) const {
  const Located place = resolved.locate(nodes[id].node.pointer);
  diagnostic.secondary.push_back({place.key ? place.key : place.value, std::move(text)});
}

void Draft::note_broken_links(const Diagnostic& diagnostic) {
  if (!leaves_links_alone(diagnostic)) links_broken_ = true;
}

void Draft::add(Diagnostic diagnostic) {
  const bool is_error = diagnostic.severity == Severity::kError;
  if (is_error && told_.contains(diagnostic.pointer)) return;
  const std::string& variable = resolved.origin(diagnostic.pointer).variable;
  if (is_error && !variable.empty() && told_.contains(child_pointer("/vars", variable))) return;
  if (is_error) insert_with_ancestors(places_, diagnostic.pointer);
  note_broken_links(diagnostic);
  found_.add(std::move(diagnostic));
}

void Draft::append(const Diagnostics& findings) {
  for (const Diagnostic& diagnostic : findings.all()) add(diagnostic);
}

bool Draft::has_error_under(std::string_view pointer) const { return places_.contains(std::string(pointer)); }

bool Draft::may_hide_keys(const std::string& pointer) const {
  return told_.contains("") || told_.contains(pointer) || told_parents_.contains(pointer);
}

const DraftNode* Draft::find(std::string_view name) const {
  const auto found = index.find(std::string(name));
  return found == index.end() ? nullptr : &nodes[found->second];
}

std::string Draft::title(NodeId id) const {
  const Node& node = nodes[id].node;
  return fmt::format("{} {}", node.kind.empty() ? "node" : node.kind, core::quoted(node.name));
}

std::vector<DraftPath*> Draft::paths() {
  std::vector<DraftPath*> all;
  for (DraftPhase& phase : phases) all.push_back(&phase.path);
  for (DraftValidation& validation : validations) all.push_back(&validation.path);
  for (std::optional<DraftPath>* const path : {&test, &predict}) {
    if (*path) all.push_back(&**path);
  }
  return all;
}

const std::vector<std::string>& Draft::names_of(std::span<const std::string_view> kinds) {
  const auto [found, added] = names_.try_emplace(fmt::format("{}", fmt::join(kinds, " ")));
  if (!added) return found->second;
  for (const DraftNode& each : nodes) {
    const bool fits = kinds.empty() || std::find(kinds.begin(), kinds.end(), each.node.kind) != kinds.end();
    const bool attachable = kinds.empty() || each.node.kind != "model" || !each.owner;
    if (fits && attachable) found->second.push_back(each.node.name);
  }
  return found->second;
}

const std::vector<std::string>& Draft::tensor_sources() {
  if (!tensor_sources_.empty()) return tensor_sources_;
  tensor_sources_.emplace_back(kBatch);
  for (const DraftNode& each : nodes) {
    const bool gives = is_step_kind(each.node.kind) && (each.out_open || !each.out.empty());
    if (gives) tensor_sources_.push_back(each.node.name);
  }
  return tensor_sources_;
}

void Draft::refuse_disabled(Diagnostic diagnostic, const Referrer& referrer, NodeId id) {
  diagnostic.code = "disabled-node";
  diagnostic.message = fmt::format("{} refers to {}, which is disabled", referrer.who, title(id));
  point_at(diagnostic, id, "disabled here");
  add(std::move(diagnostic));
}

std::optional<NodeId> Draft::refer(std::string_view pointer, const std::string& name, const Referrer& referrer,
                                   std::span<const std::string_view> kinds, bool is_key) {
  const auto error = [&](std::string code, std::string message) {
    return is_key ? at_key(pointer, std::move(code), std::move(message))
                  : at_value(pointer, std::move(code), std::move(message));
  };
  const auto fits = [&](NodeId id) {
    return std::find(kinds.begin(), kinds.end(), nodes[id].node.kind) != kinds.end();
  };
  const auto note = [&](const std::vector<std::string>& fitting) {
    std::vector<std::string> plurals;
    std::transform(kinds.begin(), kinds.end(), std::back_inserter(plurals), plural);
    if (fitting.empty() && kinds.size() == 1) {
      return fmt::format("{}: none here; tenon plugins list --kind {} tells what a node of this kind can use",
                         plurals.front(), kinds.front());
    }
    return fmt::format("{}: {}", fmt::join(plurals, ", "), list_names(fitting));
  };
  const auto found = index.find(name);
  if (found == index.end()) {
    Diagnostic diagnostic = error("unknown-node", fmt::format("there is no node {}", core::quoted(name)));
    const std::vector<std::string>& fitting = names_of(kinds);
    std::optional<std::string> meant = propose_nearest(diagnostic, name, fitting);
    if (!meant) meant = propose_nearest(diagnostic, name, names_of({}));
    diagnostic.notes.push_back(note(fitting));
    add(std::move(diagnostic));
    return meant && fits(index.at(*meant)) ? std::optional<NodeId>(index.at(*meant)) : std::nullopt;
  }

  const NodeId id = found->second;
  const Node& node = nodes[id].node;
  if (node.kind.empty()) return std::nullopt;  // its component is unknown, which has been told
  if (!fits(id)) {
    std::vector<std::string> wanted;
    std::transform(kinds.begin(), kinds.end(), std::back_inserter(wanted), with_article);
    Diagnostic diagnostic =
        error("wrong-kind", fmt::format("{} needs {}, but {} is {}", referrer.who, fmt::join(wanted, " or "),
                                        core::quoted(name), with_article(node.kind)));
    const std::vector<std::string>& fitting = names_of(kinds);
    if (fitting.size() == 1) propose(diagnostic, fitting.front());
    diagnostic.notes.push_back(note(fitting));
    point_at(diagnostic, id, fmt::format("{} is {}", core::quoted(name), node.use()));
    add(std::move(diagnostic));
    return std::nullopt;
  }
  if (nodes[id].disabled && !referrer.disabled) {
    refuse_disabled(error("disabled-node", ""), referrer, id);
    return std::nullopt;
  }
  return id;
}

}  // namespace tenon::core
