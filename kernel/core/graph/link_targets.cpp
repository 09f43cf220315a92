// What is attached to others: optimizers with their groups, schedules, exporters.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <unordered_set>

#include <fmt/format.h>

#include <core/graph/linker.hpp>
#include <core/json/pointer.hpp>
#include <core/schema/checker.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

constexpr std::array<std::string_view, 1> kModel{"model"};
constexpr std::array<std::string_view, 1> kOptimizer{"optimizer"};

class TargetLinker final : Linker {
 public:
  using Linker::Linker;

  void link() {
    const std::string& kind = each_.node.kind;
    if (kind == "schedule") {
      follow(kOptimizer, false);
      link_field();
    } else {
      follow(kModel, kind == "optimizer");
    }
    if (kind == "optimizer") link_groups();
  }

 private:
  void follow(std::span<const std::string_view> kinds, bool many) {
    const Json* const of = member("of");
    const std::string pointer = at("of");
    if (of == nullptr) {
      const std::vector<std::string>& candidates = draft_.names_of(kinds);
      missing("of", fmt::format("{} is attached to nothing", referrer_.who),
              candidates.size() == 1 ? fmt::format("add \"of\": {}", core::quoted(candidates.front()))
                                     : fmt::format("add \"of\" with the name of {}", with_article(kinds.front())));
      return;
    }
    if (!many && of->is_array() && of->size() != 1) {
      draft_.add(
          draft_.at_value(pointer, "wrong-type",
                          fmt::format("{} belongs to one {}, not to {}", referrer_.who, kinds.front(), of->size())));
      return;
    }
    std::unordered_set<NodeId> seen;
    for (const auto& [place, name] : texts_at(*of, pointer)) {
      std::optional<NodeId> found = draft_.refer(place, name, referrer_, kinds);
      if (!found) continue;
      if (draft_.nodes[*found].owner) found = report_call(place, *found);
      if (kinds.front() == "model" && many && draft_.nodes[*found].node.frozen) report_frozen(place, *found);
      if (!seen.insert(*found).second) {
        draft_.add(
            draft_.at_value(place, "duplicate", fmt::format("{} names {} twice", referrer_.who, core::quoted(name))));
        continue;
      }
      each_.targets.push_back(*found);
      each_.node.of.push_back(draft_.nodes[*found].node.name);
    }
  }

  /// Says that a call has no parameters of its own, and gives the node that has them.
  NodeId report_call(const std::string& place, NodeId call) {
    const NodeId owner = draft_.owner_of(call);
    Diagnostic diagnostic = draft_.at_value(
        place, "wrong-kind",
        fmt::format("{} needs a model of its own, but {} is a call of {}", referrer_.who,
                    core::quoted(draft_.nodes[call].node.name), core::quoted(draft_.nodes[owner].node.name)));
    draft_.propose(diagnostic, draft_.nodes[owner].node.name);
    draft_.point_at(diagnostic, call, "a call");
    draft_.add(std::move(diagnostic));
    return owner;
  }

  void report_frozen(const std::string& place, NodeId model) {
    Diagnostic diagnostic = draft_.at_value(
        place, "frozen-model", fmt::format("{} trains {}, which is frozen", referrer_.who, draft_.title(model)));
    diagnostic.label = "remove it here, or \"frozen\" there";
    draft_.point_at(diagnostic, model, "frozen");
    draft_.add(std::move(diagnostic));
  }

  /// Schedulable parameters of an optimizer.
  [[nodiscard]] static std::vector<std::string> schedulable(const ComponentInfo& info) {
    std::vector<std::string> fields;
    const Json* const properties = find_member(info.parameters, "properties");
    if (properties == nullptr) return fields;
    for (const auto& [name, schema] : properties->items()) {
      if (schema.value("x-schedulable", false)) fields.push_back(name);
    }
    return fields;
  }

  [[nodiscard]] static bool has_parameter(const ComponentInfo& info, const std::string& name) {
    const Json* const properties = find_member(info.parameters, "properties");
    return properties != nullptr && properties->contains(name);
  }

  void link_field() {
    const Json* const written = member("field");
    each_.node.field = written != nullptr && written->is_string() ? written->get<std::string>() : "lr";
    if (written == nullptr) draft_.resolved.add_default(at("field"), each_.node.field, kPipelineFormat);
    if (each_.targets.empty()) return;
    const NodeId target = each_.targets.front();
    const ComponentInfo* const info = draft_.nodes[target].node.info;
    if (info == nullptr) return;
    const std::vector<std::string> fields = schedulable(*info);
    if (std::find(fields.begin(), fields.end(), each_.node.field) != fields.end()) return;

    const std::string what = has_parameter(*info, each_.node.field) ? "cannot be scheduled" : "is not there";
    const std::string message = fmt::format("{} drives {} of {}, which {}", referrer_.who,
                                            core::quoted(each_.node.field), draft_.title(target), what);
    Diagnostic diagnostic = written != nullptr ? draft_.at_value(at("field"), "not-schedulable", message)
                                               : draft_.at_value(at("of"), "not-schedulable", message);
    if (written != nullptr) draft_.propose_nearest(diagnostic, each_.node.field, fields);
    diagnostic.notes.push_back(fmt::format("parameters of {} that can be: {}", info->id(), list_names(fields)));
    draft_.add(std::move(diagnostic));
  }

  void link_groups() {
    const Json* const groups = member("groups");
    if (groups == nullptr || !groups->is_array() || each_.node.info == nullptr) return;
    const ComponentInfo& info = *each_.node.info;
    const std::vector<std::string> fields = schedulable(info);
    Json schema{{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
    for (const std::string& field : fields) schema["properties"][field] = info.parameters["properties"][field];

    for (std::size_t i = 0; i < groups->size(); ++i) {
      const Json& group = (*groups)[i];
      const std::string pointer = child_pointer(at("groups"), i);
      const Json* const match = find_member(group, "match");
      const Json* const with = find_member(group, "with");
      if (match == nullptr || !match->is_string() || with == nullptr || !with->is_object()) continue;
      each_.node.groups.push_back({match->get<std::string>(), *with});
      Json checked = *with;
      for (const auto& [key, value] : with->items()) {
        if (!has_parameter(info, key) || schema["properties"].contains(key)) continue;
        Diagnostic diagnostic =
            draft_.at_key(pointer + "/with" + child_pointer("", key), "not-schedulable",
                          fmt::format("{} of {} is the same for all groups", core::quoted(key), info.id()));
        diagnostic.label = fmt::format("set it in \"with\" of {}", core::quoted(each_.node.name));
        diagnostic.notes.push_back(fmt::format("a group may set: {}", list_names(fields)));
        draft_.add(std::move(diagnostic));
        checked.erase(key);
      }
      Diagnostics found;
      const CheckContext context{info.id(), "parameter", pointer + "/with",
                                 [&](std::string_view place) { return draft_.resolved.locate(place); }};
      check_value(checked, schema, context, found);
      draft_.append(found);
    }
  }
};

}  // namespace

void link_targets(Draft& draft, NodeId id) { TargetLinker(draft, id).link(); }

}  // namespace tenon::core
