// Both sides of the comparison.
#include <core/resume/changes.hpp>

#include <core/storage/canonical_json.hpp>

namespace tenon::core {
namespace {

/// A run that does not say where its pipeline lay leaves that open.
PipelineFolders folders_of(const std::filesystem::path& run, const Resolved& resolved) {
  const std::filesystem::path file = run / "environment.json";
  const auto& folder = resolved.origin("").folder;
  if (folder == nullptr || !std::filesystem::exists(file)) return {};
  const Json environment = read_json(file);
  return {environment.value("pipeline_folder", ""), (std::filesystem::current_path() / *folder).lexically_normal()};
}

}  // namespace

std::vector<Change> changes_since(const std::filesystem::path& run, const Graph& graph, const Resolved& resolved) {
  const Json before = read_json(run / "config.resolved.json");
  return compare_pipelines(before, graph.resolved, graph, folders_of(run, resolved));
}

std::set<std::string> beginning_anew(std::span<const Change> changes) {
  std::set<std::string> nodes;
  for (const Change& change : changes) {
    if (!change.begins_anew.empty()) nodes.insert(change.begins_anew);
  }
  return nodes;
}

}  // namespace tenon::core
