// From nodes to stages.
#include <engine/streams.hpp>

#include <algorithm>

#include <engine/engine.hpp>

namespace tenon::engine {
namespace {

/// Asks each component of the stream for its fields alone, so that an error has its place.
void require_specs(const Components& components, std::span<const core::Node* const> stages) {
  Spec fields;
  for (const core::Node* const stage : stages) {
    components.entering(stage->name, "spec", "cannot tell its fields", [&] {
      fields = stage->kind == "dataset" ? components.node<Dataset>(stage->name).spec()
                                        : components.node<Transform>(stage->name).spec(fields);
    });
  }
}

}  // namespace

std::vector<const core::Node*> stages_of(const core::Graph& graph, const core::Path& path) {
  std::vector<const core::Node*> stages;
  for (const core::Node* node = &graph.at(path.data); node->kind != "dataset";) {
    node = &graph.at(node->inputs.front());
    stages.push_back(node);
  }
  std::reverse(stages.begin(), stages.end());
  return stages;
}

std::string place_of_stage(const core::Node& stage) { return stage.pointer + (stage.call.empty() ? "/use" : "/call"); }

Stream make_stream(const Components& components, std::span<const core::Node* const> stages, uint64_t seed) {
  const core::Node& source = *stages.front();
  const DatasetNode dataset{source.name, source.use(), &components.node<Dataset>(source.name),
                            components.callee(source.name)};
  std::vector<TransformNode> transforms;
  for (const core::Node* const stage : stages.subspan(1)) {
    transforms.push_back(
        {stage->name, stage->use(), &components.node<Transform>(stage->name), components.callee(stage->name)});
  }
  require_specs(components, stages);
  try {
    return {dataset, transforms, seed};
  } catch (...) {
    throw PlacedError(core::diagnose(components.resolved(), stages.back()->pointer, current_error(ErrorCode::kPlugin)));
  }
}

}  // namespace tenon::engine
