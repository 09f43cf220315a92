// A graph as its drawings need it: what belongs where, on which paths a node is, and all edges with their types.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <core/graph/graph.hpp>

namespace tenon::host {

/// Where a node stands in a drawing. Attached: reached through its target, or through a setting.
enum class Plane { kData, kStep, kAttached };

[[nodiscard]] Plane plane_of(const core::Node& node) noexcept;

/// "data", "step", "attached"
[[nodiscard]] std::string_view name_of(Plane plane) noexcept;

enum class EdgeKind {
  kStream,  ///< Samples or batches, from a data node to a data node.
  kBatch,   ///< The last stream node of a path becomes "batch" there.
  kTensor,  ///< An output of a step node, or a field of "batch", into a port.
  kOf,      ///< From what is attached to its target.
  kCall,    ///< From a node to the one whose component it uses again.
};

struct GraphEdge {
  EdgeKind kind = EdgeKind::kStream;
  std::string from = {};    ///< A node, or "batch".
  std::string to = {};      ///< A node, or "batch".
  std::string output = {};  ///< Tensors: the output or field.
  std::string port = {};    ///< Tensors: the port that takes it.
  std::string path = {};    ///< kBatch: name of the path.
  /// Streams: each field, "image uint8[1, 8, 8]". Tensors: "float32[N, 10]", several where paths differ. What manifests
  /// do not tell is left out.
  std::vector<std::string> types = {};
};

/// Nodes that the same paths run.
struct GraphBlock {
  std::vector<std::string> paths;
  std::vector<const core::Node*> nodes;
};

/// Borrows from the graph, which must outlive it.
class GraphView {
 public:
  explicit GraphView(const core::Graph& graph);

  [[nodiscard]] const core::Graph& graph() const noexcept { return *graph_; }

  /// Fit or its phases, validations, test, predict.
  [[nodiscard]] const std::vector<const core::Path*>& paths() const noexcept { return paths_; }

  /// By the nodes that they enter, in the order of the graph.
  [[nodiscard]] const std::vector<GraphEdge>& edges() const noexcept { return edges_; }

  /// Names of the paths that run the node, in their order; for an attached one, of those that run what it is attached to.
  [[nodiscard]] const std::vector<std::string>& paths_of(std::string_view node) const;

  /// The nodes of a plane in blocks: those of the first path first, of these the ones that most paths share; in each, in
  /// the order of the graph.
  [[nodiscard]] std::vector<GraphBlock> blocks(Plane plane) const;

 private:
  void find_paths();
  void add_edges(const core::Node& node);
  [[nodiscard]] std::vector<std::string> types_of(const core::Node& node, const core::Wire& wire) const;

  const core::Graph* graph_;
  std::vector<const core::Path*> paths_;
  std::map<std::string, std::vector<const core::Path*>, std::less<>> runs_;  // by node
  std::map<std::string, std::vector<std::string>, std::less<>> names_;
  std::vector<GraphEdge> edges_;
};

/// Each field with its type: "image uint8[1, 8, 8]".
[[nodiscard]] std::vector<std::string> field_texts(const Spec& spec);

}  // namespace tenon::host
