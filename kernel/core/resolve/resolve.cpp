// The order of resolution.
#include <core/resolve/resolve.hpp>

#include <utility>

#include <core/json/pointer.hpp>
#include <core/resolve/layers.hpp>
#include <core/resolve/merge.hpp>
#include <core/resolve/set.hpp>
#include <core/resolve/variables.hpp>
#include <core/schema/embedded.hpp>

namespace tenon::core {
namespace {

const Json& pipeline_schema() {
  static const Json schema = Json::parse(embedded_schema("pipeline-1"));
  return schema;
}

/// Lists that the format gives stand there before --set, which counts their elements.
void add_default_lists(Tree& pipeline) {
  const Origin origin{.kind = LayerKind::kDefault, .subject = kPipelineFormat};
  for (const auto& [key, schema] : pipeline_schema().at("properties").items()) {
    const Json* const list = find_member(schema, "default");
    if (list == nullptr || !list->is_array() || pipeline.find(key) != nullptr) continue;
    pipeline.members.emplace_back(key, make_tree(*list, origin));
  }
}

}  // namespace

Resolved resolve(const ResolveRequest& request, Diagnostics& diagnostics) {
  LayerReader reader(diagnostics);
  std::optional<Tree> tree = reader.read_pipeline(request.pipeline, request.text);
  std::vector<Tree> overlays;
  bool complete = tree.has_value();
  for (const std::filesystem::path& path : request.overlays) {
    if (std::optional<Tree> overlay = reader.read_overlay(path)) {
      overlays.push_back(std::move(*overlay));
    } else {
      complete = false;
    }
  }
  // Without one of the files everything else would be guesswork.
  if (!complete) return {};

  for (Tree& overlay : overlays) merge_layer(*tree, std::move(overlay), StrayNull::kWarning, diagnostics);
  add_default_lists(*tree);
  std::vector<std::string> references = reader.references();
  for (const std::string& argument : request.sets) {
    apply_set(*tree, argument, request.parameters, references, diagnostics);
  }
  substitute_variables(*tree, references, diagnostics);

  auto [value, origins] = flatten(std::move(*tree));
  Resolved resolved(std::move(value), std::move(origins));
  resolved.apply("", pipeline_schema(), {.noun = "key"}, kPipelineFormat, diagnostics);
  return resolved;
}

}  // namespace tenon::core
