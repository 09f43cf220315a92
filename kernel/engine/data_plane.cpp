// Opening the data plane alone.
#include <engine/data_plane.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <engine/class_names.hpp>
#include <engine/engine.hpp>
#include <engine/feed.hpp>
#include <engine/fitting.hpp>
#include <engine/streams.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/components/multi_sample.hpp>

namespace tenon::engine {
namespace {

bool of_data_plane(const core::Node& node) {
  return node.kind == "dataset" || node.kind == "transform" || node.kind == "loader";
}

core::Graph without_steps(const core::Graph& graph) {
  core::Graph data = graph;
  std::erase_if(data.nodes, [](const core::Node& node) { return !of_data_plane(node); });
  data.index.clear();
  for (std::size_t i = 0; i < data.nodes.size(); ++i) data.index.emplace(data.nodes[i].name, i);
  data.stop.clear();
  data.observe.clear();
  return data;
}

/// What data was at fault, as text; empty where `body` went through.
template <class Body>
std::string data_error_of(const Body& body) {
  try {
    body();
    return {};
  } catch (const PlacedError& error) {
    if (error.code() != ErrorCode::kData) throw;
    return error.what();
  }
}

/// Texts of a list.
std::vector<std::string> texts_of(const core::Json& list) {
  const bool texts = list.is_array() && !list.empty() &&
                     std::all_of(list.begin(), list.end(), [](const core::Json& text) { return text.is_string(); });
  return texts ? list.get<std::vector<std::string>>() : std::vector<std::string>();
}

}  // namespace

bool is_random(const core::Node& transform) {
  return transform.info->has_trait("random") || transform.info->has_ability(MultiSample::kAbility);
}

bool is_fitted(const core::Node& transform) { return transform.info->has_ability(Fitted::kAbility); }

DataPlane::DataPlane(const core::Graph& graph, const core::Resolved& resolved, const core::Catalogue& catalogue)
    : graph_(without_steps(graph)), components_(graph_, resolved, catalogue) {}

bool DataPlane::fitted(const core::Path& path) const {
  const std::vector<const core::Node*> stages = stages_of(graph_, path);
  return std::any_of(stages.begin() + 1, stages.end(), [](const core::Node* stage) { return is_fitted(*stage); });
}

DataPlane::Outcome DataPlane::open(std::span<const core::Path* const> paths,
                                   const std::function<void(const std::string&)>& remark) {
  const bool learns = std::any_of(paths.begin(), paths.end(), [&](const core::Path* path) { return fitted(*path); });
  std::vector<const core::Path*> opened;
  const core::Path* alone = nullptr;  // whose data need not be there yet
  std::set<std::string> shared;
  for (const core::Path* const path : paths) {
    if (path->name == "predict" && paths.size() > 1) {
      alone = path;
    } else {
      opened.push_back(path);
    }
  }
  const bool trained =
      std::any_of(opened.begin(), opened.end(), [](const core::Path* path) { return path->name == "fit"; });
  if (learns && !trained) opened.push_back(&graph_.fit.path);
  for (const core::Path* const path : opened) shared.merge(datasets_of(graph_, *path));
  if (alone != nullptr) {
    const std::set<std::string> own = datasets_of(graph_, *alone);
    const bool apart =
        std::none_of(own.begin(), own.end(), [&](const std::string& name) { return shared.contains(name); });
    if (!apart) {
      opened.push_back(alone);
      alone = nullptr;
    }
  }
  open_datasets(components_, opened);
  tell_remarks(components_, opened, remark);
  Outcome outcome;
  if (alone != nullptr) {
    outcome.missing = data_error_of([&] {
      open_datasets(components_, std::span(&alone, 1));
      tell_remarks(components_, std::span(&alone, 1), remark);
    });
  }
  if (learns) {
    outcome.unlearned =
        data_error_of([&] { fit_transforms(components_, graph_.fit.path, seed(), {.remark = remark}); });
  }
  return outcome;
}

DatasetNode DataPlane::dataset(const core::Node& node) const {
  return {node.name, node.use(), &components_.node<Dataset>(node.name), components_.callee(node.name)};
}

TransformNode DataPlane::transform(const core::Node& node) const {
  return {node.name, node.use(), &components_.node<Transform>(node.name), components_.callee(node.name)};
}

std::vector<std::string> DataPlane::categories(const core::Node& stage, std::string_view field) const {
  std::optional<std::vector<std::string>> names = class_names(components_, stage.name, field);
  if (names) return *names;
  for (const std::string& input : stage.inputs) {
    const bool joined = stage.inputs.size() > 1;  // only datasets read several
    if (joined && find(components_.input(input).spec(), field) == nullptr) continue;
    std::vector<std::string> these = categories(graph_.at(input), field);
    if (names && *names != these) return {};
    names = std::move(these);
  }
  return names.value_or(std::vector<std::string>());
}

std::vector<std::string> DataPlane::columns(const core::Node& dataset, std::string_view field) const {
  const core::Json fields = dataset.with.value("fields", core::Json::array());
  for (const core::Json& each : fields.is_array() ? fields : core::Json::array()) {
    if (!each.is_object() || each.value("name", core::Json()) != field) continue;
    std::vector<std::string> names = texts_of(each.value("columns", core::Json::array()));
    if (!names.empty()) return names;
  }
  for (const std::string& input : dataset.inputs) {
    const core::Node& node = graph_.at(input);
    if (node.kind != "dataset") continue;
    std::vector<std::string> names = columns(node, field);
    if (!names.empty()) return names;
  }
  return {};
}

}  // namespace tenon::engine
