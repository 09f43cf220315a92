// Members in the order in which people read them.
#include <host/graph_json.hpp>

#include <string_view>

#include <tenon/spec.hpp>

namespace tenon::host {
namespace {

using core::Json;

Json field_json(const FieldSpec& field) {
  Json shape = Json::array();
  for (const Dim& dim : field.shape) {
    shape.push_back(dim.fixed() ? Json(dim.size) : Json(dim.symbol.empty() ? "?" : dim.symbol));
  }
  return {{"name", field.name}, {"dtype", name_of(field.dtype)}, {"shape", std::move(shape)}};
}

Json node_json(const core::Node& node, const GraphView& view) {
  Json json{{"name", node.name}, {"use", node.use()}, {"plane", name_of(plane_of(node))}};
  json["paths"] = view.paths_of(node.name);
  if (!node.call.empty()) json["call"] = node.call;
  if (node.frozen) json["frozen"] = true;
  if (!node.of.empty()) json["of"] = node.of;
  if (!node.field.empty()) json["field"] = node.field;
  json["out"] = Json::array();
  for (const FieldSpec& field : node.out) json["out"].push_back(field_json(field));
  json["open"] = node.open;
  return json;
}

std::string_view name_of(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kStream: return "stream";
    case EdgeKind::kBatch: return "batch";
    case EdgeKind::kTensor: return "tensor";
    case EdgeKind::kOf: return "of";
    case EdgeKind::kCall: return "call";
  }
  return "";
}

Json edge_json(const GraphEdge& edge) {
  Json json{{"kind", name_of(edge.kind)}, {"from", edge.from}, {"to", edge.to}};
  if (edge.kind == EdgeKind::kBatch) json["path"] = edge.path;
  if (edge.kind == EdgeKind::kTensor) {
    json["output"] = edge.output;
    json["port"] = edge.port;
  }
  if (edge.kind != EdgeKind::kOf && edge.kind != EdgeKind::kCall) json["types"] = edge.types;
  return json;
}

}  // namespace

Json graph_json(const GraphView& view) {
  const core::Graph& graph = view.graph();
  Json json{{"pipeline", graph.name}, {"nodes", Json::array()}, {"edges", Json::array()}, {"paths", Json::array()}};
  for (const core::Node& node : graph.nodes) json["nodes"].push_back(node_json(node, view));
  for (const GraphEdge& edge : view.edges()) json["edges"].push_back(edge_json(edge));
  for (const core::Path* const path : view.paths()) {
    json["paths"].push_back({{"name", path->name},
                             {"data", path->data},
                             {"stream", path->stream},
                             {"step", path->step},
                             {"metrics", path->metrics}});
  }
  return json;
}

}  // namespace tenon::host
