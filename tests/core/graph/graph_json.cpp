// The facts of a graph as JSON, for expectations.
#include <core/graph/fixture.hpp>

#include <fmt/format.h>

#include <tenon/spec.hpp>

namespace tenon::core::testing {
namespace {

Json spec_json(const Spec& spec) {
  Json list = Json::array();
  for (const FieldSpec& field : spec) list.push_back(field.name + " " + to_string(field));
  return list;
}

Json node_json(const Node& node) {
  Json json{{"use", node.use()}, {"with", node.with}, {"out", spec_json(node.out)}, {"open", node.open}};
  if (!node.inputs.empty()) json["inputs"] = node.inputs;
  for (const Wire& wire : node.wires) json["wires"].push_back(wire.port + " <- " + wire.source + "." + wire.output);
  if (!node.of.empty()) json["of"] = node.of;
  if (!node.field.empty()) json["field"] = node.field;
  for (const Group& group : node.groups) json["groups"].push_back({{"match", group.match}, {"with", group.with}});
  if (!node.call.empty()) json["call"] = node.call;
  if (node.frozen) json["frozen"] = true;
  if (!node.load.empty()) json["load"] = node.load.filename().string();
  if (!node.metric_key.empty()) json["metric"] = node.metric_key;
  return json;
}

Json path_json(const Path& path) {
  Json json{{"data", path.data}, {"stream", path.stream}, {"step", path.step}, {"metrics", path.metrics}};
  for (const Undo& undo : path.undo) {
    json["undo"].push_back(fmt::format("{}.{} by {} ({})", undo.node, undo.port, undo.transform, undo.field));
  }
  if (path.limit) json["limit"] = *path.limit;
  return json;
}

Json phase_json(const Phase& phase) {
  Json json = path_json(phase.path);
  json["path"] = phase.path.name;
  json["name"] = phase.name;
  for (const LossTerm& term : phase.losses) json["losses"][term.node] = term.weight;
  json["optimizers"] = phase.optimizers;
  json["repeat"] = phase.repeat;
  json["own_data"] = phase.own_data;
  return json;
}

Json predict_json(const Predict& predict) {
  Json json = path_json(predict.path);
  for (const PredictedOutput& each : predict.outputs) {
    std::string text = fmt::format("{} = {} of {}.{}", each.name, name_of(each.form), each.source, each.output);
    if (!each.categories.empty()) text += fmt::format(", named by {} ({})", each.categories, each.categories_field);
    json["outputs"].push_back(text);
  }
  return json;
}

Json cadence_json(const Cadence& cadence) {
  Json list = Json::array();
  for (const tenon::Span& span : cadence.spans) list.push_back(to_string(span));
  for (const tenon::Time& time : cadence.times) list.push_back(to_string(time));
  return list;
}

std::string direction_text(tenon::Direction direction) { return direction == Direction::kMax ? "max" : "min"; }

Json attached_json(const std::vector<Attached>& attached) {
  Json list = Json::array();
  for (const Attached& each : attached) {
    list.push_back({{"use", each.use}, {"with", each.with}});
    if (each.metric_direction) list.back()["direction"] = direction_text(*each.metric_direction);
  }
  return list;
}

}  // namespace

Json graph_json(const Graph& graph) {
  Json json{{"name", graph.name}};
  for (const Node& node : graph.nodes) {
    json["order"].push_back(node.name);
    json["nodes"][node.name] = node_json(node);
  }
  const RunSettings& run = graph.run;
  json["run"] = {
      {"seed", run.seed},         {"device", run.device},    {"determinism", run.determinism}, {"float32", run.float32},
      {"autotune", run.autotune}, {"dir", run.dir.string()}, {"distributed", run.distributed}};
  json["run"]["threads"] = run.threads ? Json(*run.threads) : Json("auto");
  json["fit"] = path_json(graph.fit.path);
  for (const Phase& phase : graph.fit.phases) json["fit"]["phases"].push_back(phase_json(phase));
  if (graph.fit.phases.size() == 1) json["fit"]["losses"] = json["fit"]["phases"][0]["losses"];
  if (graph.fit.path.overfit) json["fit"]["overfit"] = *graph.fit.path.overfit;
  json["fit"]["epochs"] = to_string(graph.fit.epochs);
  json["fit"]["accumulate"] = graph.fit.accumulate;
  json["fit"]["optimizers"] = graph.fit.optimizers;
  json["fit"]["schedules"] = graph.fit.schedules;
  if (graph.fit.precision) json["fit"]["precision"] = *graph.fit.precision;
  if (graph.fit.clip_norm) json["fit"]["clip_norm"] = *graph.fit.clip_norm;
  for (const Validation& validation : graph.validations) {
    Json& into = json[validation.path.name];
    into = path_json(validation.path);
    into["every"] = cadence_json(validation.every);
    if (!validation.name.empty()) into["name"] = validation.name;
  }
  if (graph.test) json["test"] = path_json(graph.test->path);
  if (graph.predict) json["predict"] = predict_json(*graph.predict);
  json["checkpoint"] = {{"every", cadence_json(graph.checkpoint.every)}, {"keep_last", graph.checkpoint.keep_last}};
  if (const auto& best = graph.checkpoint.best) {
    json["checkpoint"]["best"] = {{"key", best->key},
                                  {"metric", best->metric},
                                  {"output", best->output},
                                  {"direction", direction_text(best->direction)},
                                  {"count", best->count}};
  }
  json["stop"] = attached_json(graph.stop);
  json["observe"] = attached_json(graph.observe);
  json["export"] = graph.exports;
  json["resolved"] = graph.resolved;
  return json;
}

}  // namespace tenon::core::testing
