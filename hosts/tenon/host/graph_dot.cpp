// Clusters, styles and labels.
#include <host/graph_dot.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon::host {
namespace {

constexpr std::size_t kMostFields = 5;

std::string_view fill_of(std::string_view kind) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kFills{{{"dataset", "#cfe3f8"},
                                                                                 {"transform", "#e3effb"},
                                                                                 {"loader", "#d9ebe9"},
                                                                                 {"model", "#f9dcb8"},
                                                                                 {"loss", "#fbe2dc"},
                                                                                 {"metric", "#fdf0e1"},
                                                                                 {"optimizer", "#d9eed2"},
                                                                                 {"schedule", "#eaf5e6"},
                                                                                 {"exporter", "#ece4f5"}}};
  for (const auto& [name, fill] : kFills) {
    if (name == kind) return fill;
  }
  return "#f4f5f7";
}

/// One line each; of many fields the first.
std::string lines_of(std::vector<std::string> texts) {
  if (texts.size() > kMostFields) {
    const std::size_t more = texts.size() - kMostFields + 1;
    texts.resize(kMostFields - 1);
    texts.push_back(fmt::format("{} more", more));
  }
  return fmt::format("{}", fmt::join(texts, "\n"));
}

std::string node_line(const core::Node& node, const GraphView& view) {
  std::string label = fmt::format("{}\n{}", node.name, node.use());
  if (node.frozen) label += "\nfrozen";
  if (!node.call.empty()) label += fmt::format("\ncall of {}", node.call);
  const std::vector<std::string>& paths = view.paths_of(node.name);
  return fmt::format("{} [label={}, fillcolor=\"{}\"{}, tooltip={}];\n", dot_quoted(node.name), dot_quoted(label),
                     fill_of(node.kind), node.call.empty() ? "" : ", style=\"rounded,filled,dashed\"",
                     dot_quoted(paths.empty() ? node.use() : fmt::format("{}", fmt::join(paths, ", "))));
}

std::string cluster(const GraphView& view, Plane plane, std::string_view title, std::string_view color) {
  std::string nodes;
  for (const GraphBlock& block : view.blocks(plane)) {
    for (const core::Node* const node : block.nodes) nodes += "    " + node_line(*node, view);
  }
  if (nodes.empty()) return "";
  return fmt::format(
      "  subgraph cluster_{} {{\n    label=\"{}\"; labeljust=l; fontname=\"Helvetica\"; fontsize=11; color=\"{}\"; "
      "style=\"rounded\";\n{}  }}\n",
      name_of(plane), title, color, nodes);
}

std::string tensor_label(const GraphEdge& edge) {
  const std::string name = edge.output == edge.port ? edge.port : fmt::format("{} to {}", edge.output, edge.port);
  return edge.types.empty() ? name : fmt::format("{}\n{}", name, fmt::join(edge.types, "\nor "));
}

std::string edge_line(const GraphEdge& edge) {
  const auto line = [](std::string_view from, std::string_view to, std::string_view label, std::string_view style) {
    return fmt::format("  {} -> {} [label={}{}];\n", dot_quoted(from), dot_quoted(to), dot_quoted(label), style);
  };
  switch (edge.kind) {
    case EdgeKind::kStream: return line(edge.from, edge.to, lines_of(edge.types), "");
    case EdgeKind::kBatch: return line(edge.from, edge.to, edge.path, ", color=\"#9ec1e8\"");
    case EdgeKind::kTensor: return line(edge.from, edge.to, tensor_label(edge), "");
    // Drawn to the right of its target, pointing back at it.
    case EdgeKind::kOf: return line(edge.to, edge.from, "of", ", style=dashed, dir=back");
    case EdgeKind::kCall: return line(edge.to, edge.from, "call", ", style=dotted, dir=back, constraint=false");
  }
  return "";
}

}  // namespace

std::string dot_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '&': out += "&amp;"; break;
      case '\n': out += "\\n"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    }
  }
  return out + "\"";
}

std::string graph_dot(const GraphView& view) {
  std::string out = fmt::format(
      "// Written by tenon graph.\n"
      "digraph {} {{\n"
      "  rankdir=LR; bgcolor=\"transparent\"; nodesep=0.18; ranksep=0.25; pad=0.2; charset=\"UTF-8\";\n"
      "  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=11, color=\"#8a8f98\", "
      "fillcolor=\"#f4f5f7\", margin=\"0.12,0.06\"];\n"
      "  edge [color=\"#8a8f98\", fontname=\"Helvetica\", fontsize=8.5, fontcolor=\"#555555\", arrowsize=0.6];\n\n",
      dot_quoted(view.graph().name));
  out += cluster(view, Plane::kData, "data plane: samples, on loader threads", "#9ec1e8");
  out += cluster(view, Plane::kStep, "step plane: tensors", "#e8c59e");
  const bool reads_batch = std::any_of(view.edges().begin(), view.edges().end(),
                                       [](const GraphEdge& edge) { return edge.kind == EdgeKind::kBatch; });
  if (reads_batch) {
    out += fmt::format("  {} [shape=ellipse, style=filled, fillcolor=\"#ffffff\", color=\"#9ec1e8\"];\n",
                       dot_quoted(core::kBatch));
  }
  std::string alone;
  for (const core::Node& node : view.graph().nodes) {
    if (plane_of(node) != Plane::kAttached) continue;
    out += "  " + node_line(node, view);
    if (node.of.empty()) alone += fmt::format(" {};", dot_quoted(node.name));
  }
  if (!alone.empty())
    out += fmt::format("  {{ rank=sink;{} }}\n", alone);  // on the right, where what is attached stands
  out += '\n';
  for (const GraphEdge& edge : view.edges()) out += edge_line(edge);
  return out + "}\n";
}

}  // namespace tenon::host
