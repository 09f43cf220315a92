// Components that stand beside the nodes: stop, observe, export, run.distributed.
#include <array>
#include <utility>

#include <fmt/format.h>

#include <core/graph/stages.hpp>
#include <core/json/pointer.hpp>
#include <core/schema/checker.hpp>
#include <tenon/components/observer.hpp>

namespace tenon::core {
namespace {

constexpr std::array<std::string_view, 1> kExporter{"exporter"};
constexpr std::array<std::string_view, 1> kDistributed{"distributed"};

/// What stands in `stop` must be able to stop.
void require_controller(Draft& draft, const Attached& each) {
  if (each.info->has_ability(Controller::kAbility)) return;
  Diagnostic diagnostic =
      draft.at_value(each.pointer + "/use", "no-controller", fmt::format("{} cannot end a run", each.use));
  diagnostic.label = "it belongs to \"observe\"";
  draft.add(std::move(diagnostic));
}

std::vector<Attached> read_list(Draft& draft, const std::string& section) {
  std::vector<Attached> list;
  const Json* const entries = draft.resolved.find("/" + section);
  if (entries == nullptr || !entries->is_array()) return list;
  const std::size_t count = entries->size();
  for (std::size_t i = 0; i < count; ++i) {
    Attached each;
    each.pointer = child_pointer("/" + section, i);
    const Json* const use = draft.resolved.find(each.pointer + "/use");
    if (use == nullptr || !use->is_string()) continue;
    each.use = use->get<std::string>();
    // What the format names by itself need not be installed.
    const bool is_default = draft.resolved.origin(each.pointer + "/use").kind == LayerKind::kDefault;
    if (is_default && draft.catalogue.find(each.use) == nullptr) continue;
    std::string kind;
    each.info = find_component(draft, each.pointer + "/use", each.use, "observer", "\"" + section + "\"", kind);
    if (each.info == nullptr) continue;
    each.component = each.info->name;
    if (section == "stop") require_controller(draft, each);
    const bool is_written = draft.resolved.find(each.pointer + "/with") != nullptr;
    if (!take_parameters(draft, each.pointer + "/with", is_written, *each.info)) continue;
    each.with = *draft.resolved.find(each.pointer + "/with");
    list.push_back(std::move(each));
  }
  return list;
}

}  // namespace

void read_attached(Draft& draft) {
  draft.stop = read_list(draft, "stop");
  draft.observe = read_list(draft, "observe");
}

void read_roots(Draft& draft) {
  if (const Json* const exports = draft.resolved.find("/export"); exports != nullptr && exports->is_array()) {
    for (std::size_t i = 0; i < exports->size(); ++i) {
      if (!(*exports)[i].is_string()) continue;
      const std::string name = (*exports)[i].get<std::string>();
      const auto found = draft.refer(child_pointer("/export", i), name, {"\"export\""}, kExporter);
      if (found) draft.exports.push_back(*found);
    }
  }
  const Json* const distributed = draft.resolved.find("/run/distributed");
  if (distributed != nullptr && distributed->is_string() && *distributed != "auto") {
    draft.distributed =
        draft.refer("/run/distributed", distributed->get<std::string>(), {"\"run.distributed\""}, kDistributed);
  }
}

}  // namespace tenon::core
