// Which parameter is the path.
#include <host/input_path.hpp>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/schema/annotations.hpp>
#include <host/json_text.hpp>
#include <tenon/error.hpp>

namespace tenon::host {
namespace {

/// The parameters of a dataset that are paths.
std::vector<core::Json*> paths_among(core::Json& with, const core::Node& dataset) {
  std::vector<core::Json*> found;
  core::visit_annotated(
      with, dataset.info->parameters, "", [&](core::Json& value, const core::Json& schema, const std::string&) {
        if (schema.contains("x-path") && value.is_string() && !value.get_ref<const std::string&>().empty()) {
          found.push_back(&value);
        }
      });
  return found;
}

}  // namespace

/// Down the stream to where the data comes from.
const core::Node& head_of_predict(const core::Graph& graph) {
  const core::Node* node = &graph.at(graph.predict->path.data);
  while (!node->inputs.empty()) node = &graph.at(node->inputs.front());
  return *node;
}

bool needs_input(const core::Graph& graph) {
  const core::Node& head = head_of_predict(graph);
  core::Json with = head.with;
  const std::vector<core::Json*> paths = paths_among(with, head);
  std::error_code unknown;
  return paths.size() == 1 && !std::filesystem::exists(paths.front()->get_ref<const std::string&>(), unknown) &&
         !unknown;
}

bool wants_folder(const core::Graph& before, const std::string& path, std::string_view error) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;
  const core::Node& head = head_of_predict(before);
  core::Json with = head.with;
  const std::vector<core::Json*> paths = paths_among(with, head);
  const bool read_folder =
      paths.size() == 1 && std::filesystem::is_directory(paths.front()->get_ref<const std::string&>(), unknown);
  return read_folder || error.find("no folder") != std::string_view::npos;  // the former data need not be here
}

std::vector<std::string> input_sets(const core::Graph& graph, const std::string& path) {
  if (!graph.predict) return {};
  const core::Node& head = head_of_predict(graph);
  core::Json with = head.with;
  const std::vector<core::Json*> found = paths_among(with, head);
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
