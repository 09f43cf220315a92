// From the draft to the graph: sections with numbers and units, and the whole pipeline in canonical order.
#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <core/graph/stages.hpp>
#include <core/json/pointer.hpp>
#include <core/units.hpp>

namespace tenon::core {
namespace {

template <typename T>
T value_or(const Draft& draft, std::string_view pointer, T otherwise) {
  const Json* const value = draft.resolved.find(pointer);
  if (value == nullptr) return otherwise;
  if constexpr (std::is_same_v<T, std::string>) {
    return value->is_string() ? value->get<std::string>() : otherwise;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return value->is_number_integer() ? value->get<int64_t>() : otherwise;
  } else {
    return value->is_number() ? value->get<T>() : otherwise;
  }
}

// Quantities ----------------------------------------------------------------------------------------------------------------

constexpr std::array kSpanOrTime{UnitKind::kSpan, UnitKind::kTime};

tenon::Span span_of(const Quantity& quantity) {
  switch (quantity.unit) {
    case Unit::kEpochs: return {quantity.count(), tenon::Span::Unit::kEpochs};
    case Unit::kSamples: return {quantity.count(), tenon::Span::Unit::kSamples};
    default: return {quantity.count(), tenon::Span::Unit::kSteps};
  }
}

/// The quantity that a text spells, or nothing: the schema of the pipeline has told what is wrong with it.
std::optional<Quantity> read_quantity(const Json& value, std::span<const UnitKind> kinds) {
  if (!value.is_string()) return std::nullopt;
  const QuantityResult result = parse_quantity(value.get_ref<const std::string&>(), kinds);
  const Quantity* const quantity = std::get_if<Quantity>(&result);
  return quantity == nullptr ? std::nullopt : std::optional<Quantity>(*quantity);
}

Cadence read_cadence(const Draft& draft, const std::string& pointer) {
  Cadence cadence;
  const auto add = [&](const Json& value) {
    const std::optional<Quantity> quantity = read_quantity(value, kSpanOrTime);
    if (!quantity) return;
    if (quantity->unit == Unit::kSeconds) {
      cadence.times.push_back({quantity->value});
    } else {
      cadence.spans.push_back(span_of(*quantity));
    }
  };
  const Json* const value = draft.resolved.find(pointer);
  if (value == nullptr) return cadence;
  if (value->is_array()) {
    std::for_each(value->begin(), value->end(), add);
  } else {
    add(*value);
  }
  return cadence;
}

// Sections ------------------------------------------------------------------------------------------------------------------

RunSettings read_run(Draft& draft) {
  RunSettings run;
  run.seed = value_or<int64_t>(draft, "/run/seed", 0);
  run.device = value_or<std::string>(draft, "/run/device", "auto");
  run.determinism = value_or<std::string>(draft, "/run/determinism", "strict");
  run.float32 = value_or<std::string>(draft, "/run/float32", "ieee");
  run.autotune = value_or<std::string>(draft, "/run/autotune", "off");
  if (run.autotune == "fixed" && run.determinism == "strict") {
    Diagnostic diagnostic = draft.at_value("/run/autotune", "conflict",
                                           "autotuning picks kernels by speed, so that strict determinism cannot hold");
    diagnostic.label = "\"off\", or \"determinism\": \"off\"";
    draft.add(std::move(diagnostic));
  }
  run.distributed = value_or<std::string>(draft, "/run/distributed", "auto");
  run.dir = draft.resolved.path("/run/dir").value_or("runs");
  if (const auto threads = value_or<int64_t>(draft, "/run/threads", 0); threads > 0) run.threads = threads;
  return run;
}

Phase read_phase(const Draft& draft, const DraftPhase& from) {
  Phase phase;
  phase.name = from.name;
  phase.path = from.path.path;
  for (const auto& [id, weight] : from.losses) phase.losses.push_back({draft.nodes[id].node.name, weight});
  for (const auto& [id, place] : from.optimizers) phase.optimizers.push_back(draft.nodes[id].node.name);
  std::sort(phase.optimizers.begin(), phase.optimizers.end());
  phase.repeat = value_or<int64_t>(draft, from.pointer + "/repeat", 1);
  phase.own_data = from.own_data;
  return phase;
}

Fit read_fit(Draft& draft) {
  Fit fit;
  if (!draft.fit) return fit;
  fit.path = draft.fit->path;
  if (draft.precision) fit.precision = draft.nodes[*draft.precision].node.name;
  if (const Json* const epochs = draft.resolved.find("/fit/epochs")) {
    constexpr std::array kSpan{UnitKind::kSpan};
    if (epochs->is_number_integer()) {
      fit.epochs = {epochs->get<int64_t>(), tenon::Span::Unit::kEpochs};
    } else if (const auto quantity = read_quantity(*epochs, kSpan)) {
      fit.epochs = span_of(*quantity);
    }
  }
  fit.accumulate = value_or<int64_t>(draft, "/fit/accumulate", 1);
  if (draft.resolved.find("/fit/clip/norm") != nullptr) fit.clip_norm = value_or<double>(draft, "/fit/clip/norm", 0);
  for (const DraftNode& each : draft.nodes) {
    if (!each.reached || each.disabled) continue;
    if (each.node.kind == "optimizer") fit.optimizers.push_back(each.node.name);
    if (each.node.kind == "schedule") fit.schedules.push_back(each.node.name);
  }
  if (draft.resolved.find("/fit/overfit") != nullptr) fit.path.overfit = value_or<int64_t>(draft, "/fit/overfit", 1);
  for (const DraftPhase& each : draft.phases) {
    fit.phases.push_back(read_phase(draft, each));
    if (each.name.empty()) fit.phases.back().optimizers = fit.optimizers;
  }
  return fit;
}

Predict read_predict(const Draft& draft) {
  Predict predict{draft.predict->path, {}};
  for (const DraftOutput& each : draft.outputs) predict.outputs.push_back(each.output);
  return predict;
}

CheckpointPlan read_checkpoint(Draft& draft, const MetricTable& metrics) {
  CheckpointPlan plan;
  plan.every = read_cadence(draft, "/checkpoint/every");
  plan.keep_last = value_or<int64_t>(draft, "/checkpoint/keep/last", plan.keep_last);
  const std::string pointer = "/checkpoint/keep/best/metric";
  const Json* const metric = draft.resolved.find(pointer);
  if (metric == nullptr || !metric->is_string()) return plan;
  const auto found = metrics.find(draft, pointer, metric->get<std::string>(), "\"checkpoint.keep.best\"");
  if (!found) return plan;
  const Node& node = draft.nodes[found->node].node;
  KeepBest best;
  best.key = found->key;
  best.metric = node.name;
  best.direction = direction_of(draft, *found).value_or(Direction::kMax);
  if (node.info != nullptr && found->output < node.info->metrics.size()) {
    best.output = node.info->metrics[found->output].name;
  }
  best.count = value_or<int64_t>(draft, "/checkpoint/keep/best/count", best.count);
  plan.best = std::move(best);
  return plan;
}

// The resolved pipeline -----------------------------------------------------------------------------------------------------

/// Members by name, all the way down.
Json sorted(const Json& value) {
  if (value.is_array()) {
    Json list = Json::array();
    for (const Json& each : value) list.push_back(sorted(each));
    return list;
  }
  if (!value.is_object()) return value;
  std::vector<std::string> keys;
  for (const auto& [key, member] : value.items()) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  std::vector<const Json*> members(keys.size());
  for (const auto& [key, member] : value.items()) {
    members[static_cast<std::size_t>(std::lower_bound(keys.begin(), keys.end(), key) - keys.begin())] = &member;
  }
  Json object = Json::object();
  for (std::size_t i = 0; i < keys.size(); ++i) append_member(object, keys[i], sorted(*members[i]));
  return object;
}

Json list_of(const std::vector<Attached>& attached) {
  Json list = Json::array();
  for (const Attached& each : attached) list.push_back(Json{{"use", each.use}, {"with", each.with}});
  return list;
}

/// As a list: members would lose their order.
Json list_of(const std::vector<PredictedOutput>& outputs) {
  Json list = Json::array();
  for (const PredictedOutput& each : outputs) {
    list.push_back({{"name", each.name}, {"from", each.source + "." + each.output}, {"as", name_of(each.form)}});
    if (each.axis) list.back()["axis"] = *each.axis;
  }
  return list;
}

Json resolved_json(const Draft& draft, const Graph& graph) {
  Json all = draft.resolved.value();
  for (const char* const gone : {"$schema", "vars", "extends"}) all.erase(gone);
  for (const auto& [name, json] : all["nodes"].items()) {
    const DraftNode* const each = draft.find(name);
    if (each == nullptr || !each->known || each->owner) continue;
    json["with"] = each->node.with;
    if (!each->node.load.empty()) json["load"] = each->node.load.string();
  }
  if (Json* const outputs = find_value(all, "/predict/outputs")) *outputs = list_of(graph.predict->outputs);
  if (Json* const dir = find_value(all, "/run/dir"))
    *dir = std::filesystem::absolute(graph.run.dir).lexically_normal().string();
  if (Json* const metric = find_value(all, "/checkpoint/keep/best/metric")) *metric = graph.checkpoint.best->key;
  if (all.contains("stop")) all["stop"] = list_of(graph.stop);
  all["observe"] = list_of(graph.observe);
  return sorted(all);
}

}  // namespace

Graph finish(Draft& draft, const MetricTable& metrics) {
  Graph graph;
  graph.name = value_or<std::string>(draft, "/name", "");
  graph.run = read_run(draft);
  graph.fit = read_fit(draft);
  for (const DraftValidation& each : draft.validations) {
    graph.validations.push_back({each.name, each.path.path, read_cadence(draft, each.pointer + "/every")});
  }
  if (draft.test) graph.test = Test{draft.test->path};
  if (draft.predict) graph.predict = read_predict(draft);
  graph.checkpoint = read_checkpoint(draft, metrics);
  graph.stop = draft.stop;
  graph.observe = draft.observe;
  for (const NodeId id : draft.exports) graph.exports.push_back(draft.nodes[id].node.name);
  if (draft.has_errors()) return graph;

  graph.resolved = resolved_json(draft, graph);
  for (DraftNode& each : draft.nodes) {
    if (each.owner) each.node.with = draft.nodes[*each.owner].node.with;
  }
  for (const NodeId id : draft.order) {
    DraftNode& each = draft.nodes[id];
    if (!each.reached || each.disabled) continue;
    for (DraftWire& wire : each.wires) each.node.wires.push_back(std::move(wire.wire));
    graph.index.emplace(each.node.name, graph.nodes.size());
    graph.nodes.push_back(std::move(each.node));
  }
  return graph;
}

}  // namespace tenon::core
