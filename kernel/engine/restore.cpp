// Restoring.
#include <engine/restore.hpp>

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include <core/json/json.hpp>
#include <engine/checkpointing.hpp>
#include <engine/engine.hpp>
#include <engine/models.hpp>
#include <engine/state_saver.hpp>

namespace tenon::engine {
namespace {

/// A member of an object, or an empty object where it is missing.
const core::Json& member(const core::Json& object, const std::string& name) {
  static const core::Json empty = core::Json::object();
  const auto found = object.find(name);
  return found == object.end() ? empty : *found;
}

template <class Stateful>
void give_back(Stateful& target, const core::Json& scalars, const core::Checkpoint& checkpoint,
               const std::string& file) {
  std::optional<core::Safetensors> arrays;
  if (checkpoint.has(file + ".safetensors")) arrays.emplace(checkpoint.tensors(file));
  StateRestorer restorer(scalars, arrays ? &*arrays : nullptr);
  target.state(restorer);
  restorer.require_all_taken();
}

void restore_node(const Components& components, const core::Node& node, const core::Json& state,
                  const core::Checkpoint& checkpoint) {
  components.entering(node.name, "state", "cannot take its state back", [&] {
    if (node.kind == "model") load_model(components.node<Model>(node.name), node.name, checkpoint);
    give_back(components.component(node.name), member(member(state, "components"), node.name), checkpoint,
              state_file(node));
  });
}

}  // namespace

Standing restore(const Components& components, Training& training, const core::Checkpoint& checkpoint,
                 const std::set<std::string>& begin_anew) {
  const core::Json state = checkpoint.json("state");
  for (const core::Node& node : components.graph().nodes) {
    if (!owns_component(node) || begin_anew.contains(node.name)) continue;
    restore_node(components, node, state, checkpoint);
  }
  const core::Json& stop = member(state, "stop");
  for (std::size_t i = 0; i < components.stop().size() && i < stop.size(); ++i) {
    const Components::Observing& each = components.stop()[i];
    if (stop[i].at("use") != each.attached->use) continue;  // another one stands there now, and begins anew
    components.entering(each, "state",
                        [&] { give_back(each.handle.get(), stop[i].at("state"), checkpoint, stop_file(i)); });
  }
  try {
    give_back(training, member(state, "training"), checkpoint, kTrainingFile);
  } catch (...) {
    throw PlacedError(core::diagnose(components.resolved(), "/fit", current_error(ErrorCode::kCheckpoint)));
  }
  Standing standing;
  for (const core::Json& validation : member(state, "pending")) standing.pending.push_back(validation);
  standing.stopped = state.value("stopped", "");
  standing.interim = state.value("interim", false);
  return standing;
}

void restore_values(const Components& components, const core::Checkpoint& checkpoint) {
  const core::Json state = checkpoint.json("state");
  for (const core::Node& node : components.graph().nodes) {
    if (owns_component(node) && (node.kind == "model" || node.kind == "transform")) {
      restore_node(components, node, state, checkpoint);
    }
  }
}

void restore_path(const Components& components, const core::Path& path, const core::Checkpoint& checkpoint,
                  at::TensorOptions options, const std::vector<std::string>& also) {
  std::set<std::string> owners;
  const auto add = [&](const std::string& name) { owners.insert(components.graph().at(name).owner()); };
  for (const auto* const names : {&path.stream, &path.step, &also}) std::for_each(names->begin(), names->end(), add);
  for (const core::Undo& undo : path.undo) add(undo.transform);

  const core::Json state = checkpoint.json("state");
  for (const std::string& name : owners) {
    const core::Node& node = components.graph().at(name);
    if (node.kind == "transform") {
      components.entering(name, "state", "cannot take its state", [&] {
        give_back(components.component(name), member(member(state, "components"), name), checkpoint, state_file(node));
      });
    }
    if (node.kind == "model") {
      components.entering(name, "state", "cannot take its weights", [&] {
        auto& model = components.node<Model>(name);
        materialize_untrained(model, options);
        load_model(model, name, checkpoint);
      });
    }
  }
}

}  // namespace tenon::engine
