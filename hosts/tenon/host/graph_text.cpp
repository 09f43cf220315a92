// Blocks of nodes by their paths, and settings in words.
#include <host/graph_text.hpp>

#include <cstddef>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <host/graph_settings.hpp>
#include <host/pipeline.hpp>
#include <host/table.hpp>

namespace tenon::host {
namespace {

constexpr std::size_t kMostFields = 8;

/// "image uint8[1, 8, 8], label int64[]"; a table of a hundred columns is cut.
std::string fields_text(const core::Node& node) {
  std::vector<std::string> texts = field_texts(node.out);
  if (texts.size() > kMostFields) {
    const std::size_t more = texts.size() - kMostFields + 1;
    texts.resize(kMostFields - 1);
    texts.push_back(fmt::format("{} more", more));
  }
  if (node.open) texts.emplace_back(texts.empty() ? "known once it is opened" : "others known once it is opened");
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string wire_text(const GraphEdge& edge) {
  std::string text = fmt::format("{} <- {}.{}", edge.port, edge.from, edge.output);
  if (!edge.types.empty()) text += fmt::format(" {}", fmt::join(edge.types, " or "));
  return text;
}

/// "model:cnn", with what is special about this use of it.
std::string use_text(const core::Node& node) {
  std::string text = node.use();
  if (!node.call.empty()) text += fmt::format(" (call of {})", node.call);
  if (node.frozen) text += " (frozen)";
  return text;
}

std::string attached_text(const core::Node& node, const core::Graph& graph) {
  std::vector<std::string> parts;
  if (!node.of.empty()) parts.push_back(fmt::format("of {}", fmt::join(node.of, ", ")));
  if (!node.field.empty()) parts.push_back(fmt::format("drives {}", node.field));
  if (!node.groups.empty()) parts.push_back(counted(node.groups.size(), "group") + " of parameters");
  if (!node.metric_key.empty()) parts.push_back(fmt::format("watches {}", node.metric_key));
  if (graph.fit.precision == node.name) parts.emplace_back("of fit");
  if (graph.run.distributed == node.name) parts.emplace_back("of run");
  return fmt::format("{}", fmt::join(parts, ", "));
}

class GraphPage {
 public:
  GraphPage(const GraphView& view, const Console& console)
      : view_(view), paint_(console.paint()), width_(console.width()) {
    for (const GraphEdge& edge : view.edges()) {
      if (edge.kind == EdgeKind::kTensor) wires_[edge.to].push_back(wire_text(edge));
    }
  }

  [[nodiscard]] std::string render() const {
    const core::Graph& graph = view_.graph();
    std::vector<std::string> names;
    for (const core::Path* const path : view_.paths()) names.push_back(path->name);
    std::string out = fmt::format("{}: {}, {}: {}\n", paint_.bold(graph.name), counted(graph.nodes.size(), "node"),
                                  counted(names.size(), "path"), fmt::join(names, ", "));
    out += plane("Data plane: streams of samples, of batches behind a loader", Plane::kData);
    out += plane("Step plane: tensors", Plane::kStep);
    out += attached();
    Table settings = table(2);
    for (const auto& [name, text] : settings_of(graph)) settings.add({name, text});
    return out + fmt::format("\n{}\n{}", paint_.bold("Settings"), settings.render(width_));
  }

 private:
  [[nodiscard]] Table table(std::size_t indent) const {
    Table table(indent);
    table.style(0, [paint = paint_](std::string_view text) { return paint.bold(text); });
    return table;
  }

  [[nodiscard]] std::vector<std::string> cells(const core::Node& node, Plane plane) const {
    std::string gives = fields_text(node);
    if (plane == Plane::kData) {
      const std::string from = node.inputs.empty() ? "" : fmt::format("<- {}", fmt::join(node.inputs, ", "));
      return {"  " + node.name, use_text(node), from, std::move(gives)};
    }
    const auto wires = wires_.find(node.name);
    std::string text = wires == wires_.end() ? "" : fmt::format("{}", fmt::join(wires->second, ", "));
    // What a loss or a metric gives is a number.
    if (node.kind == "model") text += fmt::format("{}gives {}", text.empty() ? "" : "; ", gives);
    return {"  " + node.name, use_text(node), std::move(text)};
  }

  [[nodiscard]] std::string plane(std::string_view title, Plane plane) const {
    const std::vector<GraphBlock> all = view_.blocks(plane);
    if (all.empty()) return "";
    // One table, so that the columns of all blocks are aligned; the paths of a block are a row of their own.
    Table rows(2);
    rows.style(0, [paint = paint_](std::string_view text) {
      return text.starts_with(' ') ? paint.bold(text) : paint.blue(text);
    });
    rows.break_behind_wide_cells();
    rows.limit(0, 32);
    rows.limit(1, 48);
    if (plane == Plane::kData) rows.limit(2, 32);
    for (const GraphBlock& block : all) {
      rows.add({fmt::format("{}", fmt::join(block.paths, ", "))});
      for (const core::Node* const node : block.nodes) rows.add(cells(*node, plane));
    }
    return fmt::format("\n{}\n{}", paint_.bold(title), rows.render(width_));
  }

  [[nodiscard]] std::string attached() const {
    Table rows = table(2);
    for (const core::Node& node : view_.graph().nodes) {
      if (plane_of(node) != Plane::kAttached) continue;
      rows.add({node.name, node.use(), attached_text(node, view_.graph())});
    }
    return rows.empty() ? "" : fmt::format("\n{}\n{}", paint_.bold("Attached"), rows.render(width_));
  }

  const GraphView& view_;
  Paint paint_;
  std::size_t width_;
  std::map<std::string, std::vector<std::string>> wires_;
};

}  // namespace

std::string graph_page(const GraphView& view, const Console& console) { return GraphPage(view, console).render(); }

}  // namespace tenon::host
