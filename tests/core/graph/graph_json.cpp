// The facts of a graph as JSON, for expectations.
#include <core/graph/fixture.hpp>

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
  if (!node.metric_key.empty()) json["metric"] = node.metric_key;
  return json;
}

Json path_json(const Path& path) {
  return {{"data", path.data}, {"stream", path.stream}, {"step", path.step}, {"metrics", path.metrics}};
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
  for (const LossTerm& term : graph.fit.losses) json["fit"]["losses"][term.node] = term.weight;
  json["fit"]["epochs"] = to_string(graph.fit.epochs);
  json["fit"]["accumulate"] = graph.fit.accumulate;
  json["fit"]["optimizers"] = graph.fit.optimizers;
  json["fit"]["schedules"] = graph.fit.schedules;
  if (graph.fit.precision) json["fit"]["precision"] = *graph.fit.precision;
  if (graph.fit.clip_norm) json["fit"]["clip_norm"] = *graph.fit.clip_norm;
  if (graph.validate) {
    json["validate"] = path_json(graph.validate->path);
    json["validate"]["every"] = cadence_json(graph.validate->every);
  }
  if (graph.test) json["test"] = path_json(graph.test->path);
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
