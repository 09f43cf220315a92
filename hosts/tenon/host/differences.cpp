// Whose file it is, and what moves it.
#include <host/differences.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <core/storage/canonical_json.hpp>

namespace tenon::host {
namespace {

/// "net" of "model.net.safetensors"; empty for a file that is no component's.
std::string_view node_of(std::string_view file) {
  const std::size_t begin = file.find('.') + 1;
  const std::size_t end = file.rfind('.');
  return begin > 0 && end > begin ? file.substr(begin, end - begin) : std::string_view();
}

int distance(const core::CheckpointDifference& difference) {
  const std::string_view file = difference.file;
  if (file == "manifest.json") return 5;
  if (file == "training.safetensors") return 4;  // sums of losses and norms: a consequence
  if (file.starts_with("model.")) return 3;
  if (file.starts_with("optimizer.")) return 2;
  return file == "state.json" ? 1 : 0;
}

std::string owner(std::string_view file, const core::Graph& graph) {
  const core::Node* const node = graph.find(node_of(file));
  if (node == nullptr) return "";
  std::string text = fmt::format(" of {}, {}", node->name, node->use());
  for (const core::Node& each : graph.nodes) {
    if (each.kind == "optimizer" && std::ranges::find(each.of, node->name) != each.of.end()) {
      text += fmt::format(", updated by {}, {}", each.name, each.use());
    }
  }
  return text;
}

}  // namespace

const core::CheckpointDifference& nearest_to_cause(const core::Comparison& comparison) {
  return *std::ranges::min_element(comparison.differences, {}, &distance);
}

std::string describe(const core::CheckpointDifference& difference, const core::Graph& graph, std::string_view one,
                     std::string_view other) {
  const std::string entry =
      difference.entry.empty() ? "" : fmt::format("{}{}, in ", difference.entry, owner(difference.file, graph));
  std::string what = difference.what;
  if (what == "missing in A") what = fmt::format("missing in that of {}", one);
  if (what == "missing in B") what = fmt::format("missing in that of {}", other);
  return fmt::format("{}{}: {}", entry, difference.file, what);
}

std::string place_of(const core::CheckpointDifference& difference) {
  return difference.entry.empty() ? difference.file : fmt::format("{} in {}", difference.entry, difference.file);
}

core::Json differences_json(const core::Comparison& comparison) {
  core::Json list = core::Json::array();
  for (const core::CheckpointDifference& each : comparison.differences) {
    list.push_back({{"file", each.file},
                    {"entry", each.entry},
                    {"what", each.what},
                    {"max_abs", core::number_json(each.max_abs)}});
  }
  return list;
}

}  // namespace tenon::host
