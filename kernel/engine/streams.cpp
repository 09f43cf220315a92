// From nodes to stages.
#include <engine/streams.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include <core/graph/value_type.hpp>
#include <core/json/pointer.hpp>
#include <core/schema/annotations.hpp>
#include <core/storage/canonical_json.hpp>
#include <engine/engine.hpp>
#include <tenon/components/fitted.hpp>

namespace tenon::engine {
namespace {

/// Of each path among the parameters only the file's name: the same run is the same wherever its files lie.
void drop_folders(core::Json& with, const core::Json& schema, const core::Catalogue& catalogue) {
  core::visit_annotated(with, schema, "",
                        [](core::Json& value, const core::Json& rule, const std::string& /*pointer*/) {
                          if (!rule.contains("x-path") || !value.is_string()) return;
                          value = std::filesystem::path(value.get<std::string>()).filename().string();
                        });
  for (const core::NestedPlace& place : core::nested_places(with, schema)) {
    core::Json* const inner = core::find_value(with, place.pointer + "/with");
    const core::ComponentInfo* const info = catalogue.find(place.use);
    if (inner != nullptr && info != nullptr) drop_folders(*inner, info->parameters, catalogue);
  }
}

/// All that makes a difference to what a transform gives.
core::Json identity_of(const Components& components, const core::Node& transform) {
  core::Json with = transform.with;
  drop_folders(with, transform.info->parameters, components.loader().catalogue());
  return {{"use", transform.use()}, {"version", components.callee(transform.name)->version}, {"with", with}};
}

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

/// What a transform makes of a field, by its rules.
struct Origin {
  bool written = false;              ///< The transform gives it values of its own.
  std::optional<std::string> field;  ///< The field whose values it has as they were, if there is just one.
};

Origin origin_of(const core::Node& transform, const Spec& in, const std::string& field) {
  bool hands_on = false;
  for (const Port& rule : transform.info->ports.out) {
    if (rule.pass) {
      hands_on = std::ranges::find(rule.except, field) == rule.except.end();
      continue;
    }
    if (rule.open) {
      hands_on = true;
      continue;
    }
    const std::vector<std::string> names = core::port_names(rule, transform.with);
    if (std::ranges::find(names, field) == names.end()) continue;
    const std::vector<std::string> parts =
        rule.copies.empty() ? std::vector<std::string>() : core::expand_name(rule.copies, transform.with);
    return {true, parts.size() == 1 ? std::optional(parts.front()) : std::nullopt};
  }
  return {false, hands_on && find(in, field) != nullptr ? std::optional(field) : std::nullopt};
}

/// Whom to ask for the classes of a field behind all stages.
ClassSource class_source(const Components& components, std::span<const core::Node* const> stages, const Stream& stream,
                         std::string field) {
  for (std::size_t i = stages.size() - 1; i > 0; --i) {
    const core::Node& transform = *stages[i];
    Origin origin = origin_of(transform, stream.fields_after(static_cast<int>(i) - 1), field);
    if (origin.written && transform.info->has_ability(Categorical::kAbility)) {
      return {&components.component(transform.name), std::move(field)};
    }
    if (!origin.field) return {};
    field = *std::move(origin.field);
  }
  return {&components.component(stages.front()->name), std::move(field)};
}

}  // namespace

std::vector<const core::Node*> stages_to(const core::Graph& graph, const core::Node& last) {
  std::vector<const core::Node*> stages{&last};
  while (stages.back()->kind != "dataset") stages.push_back(&graph.at(stages.back()->inputs.front()));
  std::reverse(stages.begin(), stages.end());
  return stages;
}

std::vector<const core::Node*> stages_of(const core::Graph& graph, const core::Path& path) {
  return stages_to(graph, graph.at(graph.at(path.loader).inputs.front()));
}

std::set<std::string> datasets_of(const core::Graph& graph, const core::Path& path) {
  std::set<std::string> names;
  const std::function<void(const std::string&)> reach = [&](const std::string& name) {
    const core::Node& node = graph.at(name);
    if (node.kind == "dataset") names.insert(name);
    for (const std::string& input : node.inputs) reach(input);
  };
  reach(path.loader);
  return names;
}

std::string place_of_stage(const core::Node& stage) { return stage.pointer + (stage.call.empty() ? "/use" : "/call"); }

std::string place_of(const core::Graph& graph, const core::Path& path, const DataError& error) {
  const core::Node* const fault = error.node().empty() ? nullptr : graph.find(error.node());
  return fault != nullptr ? place_of_stage(*fault) : graph.at(path.loader).pointer + "/use";
}

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

std::unique_ptr<StreamDataset> make_stream_dataset(const Components& components, const core::Node& transform) {
  const std::vector<const core::Node*> stages = stages_to(components.graph(), transform);
  core::Json identity = core::Json::array();
  for (const core::Node* const stage : std::span(stages).subspan(1))
    identity.push_back(identity_of(components, *stage));
  Stream stream = make_stream(components, stages, 0);
  std::vector<ClassSource> classes;
  for (const FieldSpec& field : stream.fields()) {
    classes.push_back(class_source(components, stages, stream, field.name));
  }
  return std::make_unique<StreamDataset>(std::move(stream), components.node<Dataset>(stages.front()->name),
                                         core::canonical_text(identity), std::move(classes));
}

}  // namespace tenon::engine
