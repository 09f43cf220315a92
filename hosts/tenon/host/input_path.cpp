// Which parameter is the path.
#include <host/input_path.hpp>

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/schema/annotations.hpp>
#include <host/json_text.hpp>
#include <tenon/error.hpp>

namespace tenon::host {
namespace {

/// Down the stream to where the data comes from.
const core::Node& head_of(const core::Graph& graph) {
  const core::Node* node = &graph.at(graph.predict->path.data);
  while (!node->inputs.empty()) node = &graph.at(node->inputs.front());
  return *node;
}

}  // namespace

std::vector<std::string> input_sets(const core::Graph& graph, const std::string& path) {
  if (!graph.predict) return {};
  const core::Node& head = head_of(graph);
  core::Json with = head.with;
  std::vector<core::Json*> found;
  core::visit_annotated(
      with, head.info->parameters, "", [&](core::Json& value, const core::Json& schema, const std::string&) {
        if (schema.contains("x-path") && value.is_string() && !value.get_ref<const std::string&>().empty()) {
          found.push_back(&value);
        }
      });
  if (found.size() != 1) {
    throw Error(ErrorCode::kConfig,
                fmt::format("--input cannot tell which parameter of dataset \"{}\" ({}) it stands for: {}. Use --set "
                            "nodes.{}.with.PARAMETER=…",
                            head.name, head.use(), found.empty() ? "none is a path" : "several are paths", head.name));
  }
  *found.front() = std::filesystem::absolute(path).string();
  std::vector<std::string> sets;
  for (const auto& [name, value] : with.items()) {
    const core::Json* const before = core::find_member(head.with, name);
    if (before == nullptr || *before != value) {
      sets.push_back(fmt::format("nodes.{}.with.{}={}", head.name, name, compact(value)));
    }
  }
  return sets;
}

}  // namespace tenon::host
