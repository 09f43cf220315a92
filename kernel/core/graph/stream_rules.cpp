// Where in a stream random numbers may be drawn, what may stand before a dataset, and which samples are measured.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <core/graph/linker.hpp>
#include <core/graph/stages.hpp>
#include <core/json/pointer.hpp>
#include <core/plugin/loader_params.hpp>
#include <core/schema/annotations.hpp>
#include <core/text/suggest.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/components/multi_sample.hpp>

namespace tenon::core {
namespace {

/// The component by whose doing the results of `info` with these parameters are random: itself, or one within it.
const ComponentInfo* random_part(const Catalogue& catalogue, const ComponentInfo& info, const Json& with,
                                 int depth = 0) {
  if (info.has_trait("random") || info.has_ability(MultiSample::kAbility)) return &info;
  if (depth > kDeepestNesting) return nullptr;
  for (const NestedPlace& place : nested_places(with, info.parameters)) {
    const ComponentInfo* const inner = catalogue.find(place.use);
    if (inner == nullptr) continue;
    const Json* const inner_with = find_value(with, place.pointer + "/with");
    if (const auto* const found =
            random_part(catalogue, *inner, inner_with == nullptr ? Json::object() : *inner_with, depth + 1)) {
      return found;
    }
  }
  return nullptr;
}

/// The sampler of a loader; nothing where there is none, or one with an error, which the schema tells.
std::optional<SamplerParams> sampler_of(const Json& with) {
  const Json* const sampler = find_member(with, "sampler");
  if (sampler == nullptr || !sampler->is_object()) return std::nullopt;
  try {
    return parse_params<SamplerParams>(sampler->dump(-1, ' ', false, Json::error_handler_t::replace));
  } catch (const Error&) {
    return std::nullopt;
  }
}

class StreamRules {
 public:
  explicit StreamRules(Draft& draft) : draft_(draft), parts_(draft.nodes.size()), refused_(draft.nodes.size(), false) {}

  void check() {
    for (NodeId id = 0; id < draft_.nodes.size(); ++id) {
      const DraftNode& each = draft_.nodes[id];
      if (each.node.kind == "dataset" && each.reached && !each.disabled) check_inputs(id);
    }
    for (const DraftValidation& validation : draft_.validations) {
      const std::string who =
          validation.name.empty() ? "validation" : fmt::format("validation {}", core::quoted(validation.name));
      check_measured(validation.path, validation.pointer, who);
      check_whole(validation.path, validation.pointer, who);
    }
    if (draft_.test) {
      check_measured(*draft_.test, "/test", "the test");
      check_whole(*draft_.test, "/test", "the test");
    }
    if (draft_.predict) check_measured(*draft_.predict, "/predict", "prediction");
  }

 private:
  /// The random part of a transform, or null.
  const ComponentInfo* random_part_of(NodeId id) {
    const NodeId owner = draft_.owner_of(id);
    const DraftNode& each = draft_.nodes[owner];
    if (each.node.kind != "transform" || !each.known) return nullptr;
    std::optional<const ComponentInfo*>& known = parts_[owner];
    if (!known) known = random_part(draft_.catalogue, *each.node.info, each.node.with);
    return *known;
  }

  /// `transform "sometimes" (transform:cutout)`
  [[nodiscard]] std::string title(NodeId id, const ComponentInfo& part) const {
    return fmt::format("{} ({})", draft_.title(id), part.id());
  }

  /// The block asks for something that would be an error else.
  [[nodiscard]] bool allows(const std::string& block, const char* key) const {
    const Json* const allowed = draft_.resolved.find(child_pointer(block, key));
    return allowed != nullptr && *allowed == true;
  }

  /// What is measured is the same each time, unless the block asks for something else.
  void check_measured(const DraftPath& path, const std::string& block, const std::string& who) {
    if (allows(block, "allow_random")) return;
    for (const NodeId id : path.stream) {
      const ComponentInfo* const part = random_part_of(id);
      if (part == nullptr || refused_[id]) continue;
      Diagnostic diagnostic =
          draft_.at_value(block + "/data", "random-evaluation",
                          fmt::format("{} would measure samples that {} changes at random", who, title(id, *part)));
      diagnostic.label = "read a stream without it, or say \"allow_random\": true beside \"data\"";
      draft_.point_at(diagnostic, id, "draws random numbers");
      draft_.add(std::move(diagnostic));
      return;  // one at a time: they stand at one place
    }
  }

  /// Each sample of the data is measured once, unless the block asks for something else. Prediction does so by itself.
  void check_whole(const DraftPath& path, const std::string& block, const std::string& who) {
    const DraftNode* const loader = draft_.find(path.path.loader);
    if (loader == nullptr || allows(block, "allow_sampled")) return;
    const std::string named = core::quoted(loader->node.name);
    const std::optional<SamplerParams> sampler = sampler_of(loader->parameters);
    const bool limited = path.path.limit.has_value();  // which says that a part of the data is enough
    if (sampler && sampler->replaces()) {
      tell_sampled(block, *loader, "sampler", "some come twice, others never",
                   fmt::format("{} would not measure each sample once: loader {} draws them", who, named));
    } else if (sampler && sampler->draws() && sampler->samples) {
      tell_sampled(block, *loader, "sampler", "the others are left out",
                   fmt::format("{} would measure {} samples that loader {} draws", who, *sampler->samples, named));
    } else if (sampler && sampler->samples && !limited) {
      Diagnostic diagnostic = sampled(
          block, *loader, "sampler/samples", "the others are left out",
          fmt::format("{} measures {} samples alone, as loader {} gives no more", who, *sampler->samples, named));
      diagnostic.severity = Severity::kWarning;
      diagnostic.label = "where that is wanted, say \"allow_sampled\": true beside it";
      draft_.add(std::move(diagnostic));
    }
    const Json* const last = find_member(loader->parameters, "last");
    const Json* const batch = find_member(loader->parameters, "batch");
    const bool of_one = batch != nullptr && *batch == 1;
    if (last != nullptr && *last == "drop" && !of_one && !limited) {
      tell_sampled(
          block, *loader, "last", "samples of the last batch may be left out",
          fmt::format("{} would not measure the samples of a smaller last batch, which loader {} drops", who, named));
    }
  }

  /// A finding about a block whose loader does not give each sample once, by its parameter `name`.
  [[nodiscard]] Diagnostic sampled(const std::string& block, const DraftNode& loader, std::string_view name,
                                   std::string why, std::string message) const {
    Diagnostic diagnostic = draft_.at_value(block + "/data", "sampled-evaluation", std::move(message));
    const Located place = draft_.resolved.locate(fmt::format("{}/with/{}", loader.node.pointer, name));
    diagnostic.secondary.push_back({place.exact || !place.key ? place.value : place.key, std::move(why)});
    return diagnostic;
  }

  void tell_sampled(const std::string& block, const DraftNode& loader, std::string_view name, std::string why,
                    std::string message) {
    Diagnostic diagnostic = sampled(block, loader, name, std::move(why), std::move(message));
    diagnostic.label = "read a loader without it, or say \"allow_sampled\": true beside \"data\"";
    draft_.add(std::move(diagnostic));
  }

  /// A dataset gives the same item each time, from the start on: what stands before it neither draws nor learns.
  void check_inputs(NodeId dataset) {
    const DraftNode& each = draft_.nodes[dataset];
    for (const NodeId feed : each.feeds) {
      NodeId id = feed;
      // Nodes on a circle, which has been told, come back to themselves.
      for (std::size_t left = draft_.nodes.size(); left > 0 && draft_.nodes[id].node.kind == "transform"; --left) {
        const DraftNode& at = draft_.nodes[id];
        if (const ComponentInfo* const part = random_part_of(id)) {
          refuse(
              dataset, feed, id, "random-before-dataset",
              fmt::format("dataset {} reads what {} changes at random", core::quoted(each.node.name), title(id, *part)),
              "draws random numbers");
        } else if (at.known && at.node.info->has_ability(Fitted::kAbility)) {
          refuse(dataset, feed, id, "fitted-before-dataset",
                 fmt::format("dataset {} reads what {} changes, which has to learn from the data first",
                             core::quoted(each.node.name), draft_.title(id)),
                 "learns from data");
        }
        if (at.feeds.empty()) break;
        id = at.feeds.front();
      }
    }
  }

  void refuse(NodeId dataset, NodeId feed, NodeId id, const char* code, std::string message, const char* why) {
    refused_[id] = true;
    const DraftNode& each = draft_.nodes[dataset];
    std::string place = each.node.pointer + "/in";
    for (const auto& [pointer, name] : texts_at(each.json->at("in"), each.node.pointer + "/in")) {
      if (name == draft_.nodes[feed].node.name) place = pointer;
    }
    Diagnostic diagnostic = draft_.at_value(place, code, std::move(message));
    diagnostic.label = fmt::format("an item is the same each time: put {} behind {}",
                                   core::quoted(draft_.nodes[id].node.name), core::quoted(each.node.name));
    draft_.point_at(diagnostic, id, why);
    draft_.add(std::move(diagnostic));
  }

  Draft& draft_;
  std::vector<std::optional<const ComponentInfo*>> parts_;  ///< By node, once asked for.
  std::vector<bool> refused_;                               ///< Told before a dataset.
};

}  // namespace

void check_streams(Draft& draft) { StreamRules(draft).check(); }

}  // namespace tenon::core
