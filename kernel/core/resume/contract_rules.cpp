// The table of the resume contract. A place that no rule knows is refused, too.
#include <core/resume/contract_rules.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/json/pointer.hpp>
#include <core/schema/annotations.hpp>

namespace tenon::core {
namespace {

constexpr const char* kUnchanged = "training is unchanged";
constexpr const char* kIncomparable = "training is unchanged; what was measured before is not comparable";
constexpr const char* kFromHere = "counts from here on; equal bytes are no longer promised";
constexpr const char* kConverted = "the position is converted in samples; equal bytes are no longer promised";
constexpr const char* kAtTheStart = "training is unchanged: first values are read before the first step alone";
constexpr const char* kSameItems = "what the file holds counts, and is compared as provenance";
constexpr const char* kInForce = "what is in force counts, and is compared as provenance";

Verdict applied(std::string consequence) { return {Effect::kApplied, "", std::move(consequence), ""}; }

Verdict refused(std::string word, std::string consequence) {
  return {Effect::kNeedsAccept, std::move(word), std::move(consequence), ""};
}

Verdict anew(std::string word, const std::string& node, std::string consequence) {
  return {Effect::kNeedsAccept, std::move(word), std::move(consequence), node};
}

bool is_auto(const Json* value) { return value != nullptr && *value == "auto"; }

const Json* member(const Json* object, std::string_view key) {
  return object == nullptr ? nullptr : find_member(*object, key);
}

/// Names of nodes that a value of "in", "loss" or "metrics" refers to: "net.logits" is net.
void add_sources(const Json* value, std::vector<std::string>& into) {
  if (value == nullptr) return;
  if (value->is_string()) {
    const auto& text = value->get_ref<const std::string&>();
    into.push_back(text.substr(0, text.find('.')));
  } else if (value->is_structured()) {
    for (const Json& each : *value) add_sources(&each, into);
  }
}

/// The nodes of `open` and all behind them; of a node whose component one of them calls, that one alone.
std::set<std::string> reached_from(const Json& pipeline, std::vector<std::string> open) {
  std::set<std::string> reached;
  std::set<std::string> called;
  const Json* const nodes = find_member(pipeline, "nodes");
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    const Json* const node = member(nodes, name);
    if (node == nullptr || !reached.insert(name).second) continue;
    add_sources(find_member(*node, "in"), open);
    const Json* const call = find_member(*node, "call");
    if (call != nullptr && call->is_string()) called.insert(call->get<std::string>());
  }
  reached.merge(called);
  return reached;
}

/// Data and losses of fit, or of one of its phases.
void add_fit(const Json& fit, std::vector<std::string>& roots) {
  add_sources(find_member(fit, "data"), roots);
  const Json* const loss = find_member(fit, "loss");
  if (loss != nullptr && loss->is_object()) {
    for (const auto& [name, weight] : loss->items()) roots.push_back(name);
  } else {
    add_sources(loss, roots);
  }
}

std::vector<std::string> fit_roots(const Json& pipeline) {
  std::vector<std::string> roots;
  const Json* const fit = find_member(pipeline, "fit");
  if (fit == nullptr) return roots;
  add_fit(*fit, roots);
  const Json* const phases = find_member(*fit, "phases");
  if (phases == nullptr || !phases->is_array()) return roots;
  for (const Json& phase : *phases) add_fit(phase, roots);
  return roots;
}

/// Of the only validation, or of all in a map.
std::vector<std::string> validate_roots(const Json& pipeline) {
  std::vector<std::string> roots;
  const Json* const validate = find_member(pipeline, "validate");
  const auto add = [&](const Json& one) {
    add_sources(find_member(one, "data"), roots);
    add_sources(find_member(one, "metrics"), roots);
  };
  if (validate == nullptr || !validate->is_object()) return roots;
  add(*validate);
  for (const Json& each : *validate) add(each);
  return roots;
}

/// Of a call, the kind of the node that it names.
std::string kind_of(const Json* node, const Json* nodes) {
  if (const Json* const call = member(node, "call"); call != nullptr && call->is_string()) {
    node = member(nodes, call->get<std::string>());
  }
  const Json* const use = member(node, "use");
  if (use == nullptr || !use->is_string()) return "";
  const auto& text = use->get_ref<const std::string&>();
  return text.substr(0, text.find(':'));
}

/// "end" as the value of a parameter, at any depth.
bool counts_until_end(const Json& with) {
  if (with.is_structured()) return std::any_of(with.begin(), with.end(), counts_until_end);
  return with == "end";
}

/// The parameter at `path`, which begins "nodes", NAME, "with", names a file.
bool names_a_file(const Node& node, const std::vector<std::string>& path) {
  std::string wanted;
  for (std::size_t i = 3; i < path.size(); ++i) wanted = child_pointer(wanted, path[i]);
  bool found = false;
  Json with = node.with;
  visit_annotated(with, node.info->parameters, "", [&](const Json& /*value*/, const Json& rule, const std::string& at) {
    found = found || (at == wanted && rule.contains("x-path"));
  });
  return found;
}

bool is_same_kind_of_device(const Difference& difference) {
  const auto kind = [](const Json* value) {
    const std::string text = value != nullptr && value->is_string() ? value->get<std::string>() : "";
    return text.substr(0, text.find(':'));
  };
  return kind(difference.before) == kind(difference.after);
}

}  // namespace

ContractRules::ContractRules(const Json& before, const Json& after, const Graph& graph)
    : before_(before), after_(after), graph_(graph) {
  for (const Json* const pipeline : {&before, &after}) {
    fit_.merge(reached_from(*pipeline, fit_roots(*pipeline)));
    validate_.merge(reached_from(*pipeline, validate_roots(*pipeline)));
  }
}

Verdict ContractRules::measured(std::string consequence) const {
  std::vector<std::string> readers;
  for (const Node& each : graph_.nodes) {
    if (each.kind == "schedule" && !each.metric_key.empty()) readers.push_back(each.name);
  }
  if (readers.empty()) return applied(std::move(consequence));
  return refused("schedule", fmt::format("{} goes by what validation finds; equal bytes are no longer promised",
                                         fmt::join(readers, ", ")));
}

Verdict ContractRules::of_pipeline(const Difference& difference) const {
  const std::vector<std::string>& path = difference.path;
  const std::string top = path.empty() ? "" : path[0];
  if (top == "run") return run(difference);
  if (top == "fit") return fit(difference);
  if (top == "nodes" && path.size() > 1) return node(difference);
  if (top == "stop") return stop(difference);
  if (top == "validate") {
    const auto says = [&](std::string_view key) { return std::find(path.begin(), path.end(), key) != path.end(); };
    // These allow what is there, and change nothing.
    if (says("allow_random") || says("allow_sampled")) return applied(kUnchanged);
    return measured(says("every") ? kUnchanged : kIncomparable);
  }
  constexpr std::array<std::string_view, 9> kFree{"$schema", "checkpoint", "export", "extends", "name",
                                                  "observe", "predict",    "test",   "vars"};
  if (std::ranges::find(kFree, top) != kFree.end()) return applied(kUnchanged);
  return refused("other", kFromHere);
}

Verdict ContractRules::run(const Difference& difference) const {
  const std::string key = difference.path.size() > 1 ? difference.path[1] : "";
  if (key == "dir") return applied(kUnchanged);
  if (key == "seed")
    return refused("seed", "all randomness is another from here on; equal bytes are no longer promised");
  if (key == "distributed") return refused("world", kConverted);
  if (key == "device" || key == "threads") {
    if (is_auto(difference.before) || is_auto(difference.after)) return applied(kInForce);
    return refused(key, kFromHere);
  }
  if (key == "determinism" || key == "float32" || key == "autotune") return refused(key, kFromHere);
  return refused("other", kFromHere);
}

Verdict ContractRules::fit(const Difference& difference) const {
  const std::string key = difference.path.size() > 1 ? difference.path[1] : "";
  if (key == "epochs") return epochs(difference);
  if (key == "accumulate") return refused(key, kConverted);
  if (key == "data" || key == "limit" || key == "overfit") return refused("data", kConverted);
  if (key == "phases") return phases(difference);
  if (key == "clip" || key == "loss" || key == "precision") return refused(key, kFromHere);
  return refused("other", kFromHere);
}

/// Phases are compared by their place in the list.
Verdict ContractRules::phases(const Difference& difference) const {
  const std::string key = difference.path.size() > 3 ? difference.path[3] : "";
  if (key == "data") return refused(key, kConverted);
  if (key == "optimizers") return refused("optimizer", kFromHere);
  return refused("loss", kFromHere);
}

Verdict ContractRules::epochs(const Difference& difference) const {
  std::vector<std::string> planned_anew;
  for (const Node& each : graph_.nodes) {
    if (each.kind == "schedule" && counts_until_end(each.with)) planned_anew.push_back(each.name);
  }
  if (!planned_anew.empty()) {
    return refused("schedule", fmt::format("{} counts until the end and is planned anew; equal bytes are no longer "
                                           "promised",
                                           fmt::join(planned_anew, ", ")));
  }
  const bool comparable = difference.before != nullptr && difference.after != nullptr &&
                          difference.before->is_number() && difference.after->is_number();
  if (!comparable) return applied("training has another length; its steps are unchanged");
  return applied(*difference.before < *difference.after ? "training goes on for longer; its steps are unchanged"
                                                        : "training ends earlier; its steps are unchanged");
}

Verdict ContractRules::node(const Difference& difference) const {
  const std::string& name = difference.path[1];
  const Json* const nodes_before = find_member(before_, "nodes");
  const Json* const nodes_after = find_member(after_, "nodes");
  const Json* const was = member(nodes_before, name);
  const Json* const is = member(nodes_after, name);
  std::string kind = kind_of(is, nodes_after);
  if (kind.empty()) kind = kind_of(was, nodes_before);
  const bool added = was == nullptr;
  const bool gone = is == nullptr;
  const bool other = difference.path.size() > 2 && difference.path[2] == "use";

  if (kind == "exporter" || kind == "observer") return applied(kUnchanged);
  if (kind == "dataset" || kind == "transform" || kind == "loader") return data_node(difference, kind);
  if (kind == "distributed") return refused("world", kConverted);
  const bool of_training = kind == "model" || kind == "optimizer" || kind == "schedule" || kind == "precision";
  // A call has no state: that is its target's.
  const bool had_state = member(was, "use") != nullptr;
  const bool has_state = member(is, "use") != nullptr;
  const bool calls = !had_state && !has_state;
  if ((kind == "loss" || kind == "metric" || calls) && !fit_.contains(name)) {
    return validate_.contains(name) ? measured(kIncomparable) : applied(kUnchanged);
  }
  if (!of_training && kind != "loss" && kind != "metric") return refused("other", kFromHere);
  if (calls) return refused(kind, kFromHere);
  if (gone || (other && !has_state)) return refused(kind, "its state in the checkpoint is dropped");
  if (added || (other && !had_state)) return anew(kind, name, "it begins anew");
  if (other) return anew(kind, name, "its state in the checkpoint is dropped; it begins anew");
  if (kind == "optimizer") return optimizer(difference);
  const std::string key = difference.path.size() > 2 ? difference.path[2] : "";
  if (kind == "model" && key == "load") return applied(kAtTheStart);
  if (kind == "model" && key == "frozen") return refused(kind, kFromHere);
  if (kind == "model") return refused(kind, "the weights in the checkpoint go into the changed model, where they fit");
  return refused(kind, kFromHere);
}

/// Workers, prefetching and bounds never change what comes; all else of the stream that training reads does.
Verdict ContractRules::data_node(const Difference& difference, const std::string& kind) const {
  const std::vector<std::string>& path = difference.path;
  const std::string parameter = path.size() > 3 && path[2] == "with" ? path[3] : "";
  if (kind == "loader" &&
      (parameter == "workers" || parameter == "prefetch" || parameter == "memory" || parameter == "sample_timeout")) {
    return applied(kUnchanged);
  }
  const Node* const node = graph_.find(path[1]);
  if (kind == "dataset" && node != nullptr && !parameter.empty() && names_a_file(*node, path)) {
    return applied(kSameItems);
  }
  if (!fit_.contains(path[1])) return validate_.contains(path[1]) ? measured(kIncomparable) : applied(kUnchanged);
  return refused(kind == "loader" && parameter == "batch" ? "batch" : "data", kConverted);
}

/// State is kept by the parameters' names: a value may change under it, what belongs to it may not.
Verdict ContractRules::optimizer(const Difference& difference) const {
  const std::vector<std::string>& path = difference.path;
  if (path.size() > 3 && path[2] == "with") return refused(path[3], kFromHere);
  if (path.size() > 5 && path[2] == "groups" && path[4] == "with") return refused(path[5], kFromHere);
  return anew("optimizer", path[1], "its state in the checkpoint is dropped; it begins anew");
}

Verdict ContractRules::stop(const Difference& difference) const {
  const std::vector<std::string>& path = difference.path;
  Verdict verdict = applied("training may end at another step; its steps are unchanged");
  const bool whole = path.size() == 2 || (path.size() > 2 && path[2] == "use");
  if (whole && difference.after != nullptr) verdict.begins_anew = "stop/" + path[1];
  return verdict;
}

Verdict ContractRules::of_provenance(const Difference& difference) const {
  const std::string key = difference.path.empty() ? "" : difference.path[0];
  if (key == "device") {
    return is_same_kind_of_device(difference) ? applied("training is unchanged where the devices are alike")
                                              : refused("device", kFromHere);
  }
  if (key == "data" && difference.path.size() > 1) {
    const std::string& name = difference.path[1];
    if (fit_.contains(name)) return refused("data", kConverted);
    if (graph_.find(name) == nullptr) return applied(kUnchanged);
    return validate_.contains(name) ? measured(kIncomparable) : applied(kUnchanged);
  }
  constexpr std::array kWords{std::pair{"cpu_capability", "isa"}, std::pair{"deterministic_algorithms", "determinism"},
                              std::pair{"float32", "float32"},    std::pair{"libtorch", "libtorch"},
                              std::pair{"onednn", "onednn"},      std::pair{"threads", "threads"}};
  for (const auto& [fact, word] : kWords) {
    if (key == fact) return refused(word, kFromHere);
  }
  return refused("other", kFromHere);
}

}  // namespace tenon::core
