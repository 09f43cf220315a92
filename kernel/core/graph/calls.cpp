// Nodes beyond "use": calls take the component of another node, models may be frozen and load their first values.
#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/graph/linker.hpp>
#include <core/graph/stages.hpp>
#include <core/json/pointer.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

constexpr std::array<std::string_view, 2> kCallable{"model", "transform"};
/// Calls of calls are errors anyhow: longer chains are not followed to their end.
constexpr std::size_t kLongestChain = 16;

class CallReader final : Linker {
 public:
  using Linker::Linker;

  void read() {
    const Json* const call = member("call");
    if (member("use") == nullptr && call == nullptr) {
      missing("", fmt::format("{} needs the key \"use\", or \"call\"", dotted_path(each_.node.pointer)),
              "add \"use\": \"kind:name\"");
    }
    if (member("use") != nullptr && call != nullptr) {
      Diagnostic diagnostic =
          draft_.at_key(at("call"), "conflict", fmt::format("{} has both \"use\" and \"call\"", draft_.title(id_)));
      diagnostic.label = "\"use\" makes a component of its own, \"call\" uses another node's: remove one";
      draft_.add(std::move(diagnostic));
      return;
    }
    if (call == nullptr) return;
    const std::optional<NodeId> owner = call->is_string() ? follow(call->get<std::string>()) : std::nullopt;
    refuse_keys(owner);
    if (owner) take_component(*owner);
  }

 private:
  [[nodiscard]] const Json* call_of(NodeId id) const {
    const Json& json = *draft_.nodes[id].json;
    const Json* const call = find_member(json, "use") == nullptr ? find_member(json, "call") : nullptr;
    return call != nullptr && call->is_string() ? call : nullptr;
  }

  std::optional<NodeId> follow(const std::string& name) {
    const auto found = draft_.index.find(name);
    if (found == draft_.index.end() || call_of(found->second) == nullptr) {
      return draft_.refer(at("call"), name, referrer_, kCallable);
    }
    // Another call: what that one means is meant here, too, unless calls go round in a circle.
    std::vector<NodeId> chain{id_};
    std::optional<NodeId> next = found->second;
    while (next && chain.size() < kLongestChain && std::find(chain.begin(), chain.end(), *next) == chain.end()) {
      chain.push_back(*next);
      const Json* const call = call_of(*next);
      if (call == nullptr) break;
      const auto further = draft_.index.find(call->get<std::string>());
      next = further == draft_.index.end() ? std::nullopt : std::optional<NodeId>(further->second);
    }
    if (next == id_) {
      report_circle(chain);
      return std::nullopt;
    }
    Diagnostic diagnostic = draft_.at_value(
        at("call"), "call-of-a-call",
        fmt::format("{} calls {}, which has no component of its own", draft_.title(id_), core::quoted(name)));
    std::optional<NodeId> owner;
    if (next && call_of(*next) == nullptr) {
      const std::string& kind = draft_.nodes[*next].node.kind;
      if (std::find(kCallable.begin(), kCallable.end(), kind) != kCallable.end()) owner = next;
      draft_.propose(diagnostic, draft_.nodes[*next].node.name);
    }
    draft_.point_at(diagnostic, found->second, "a call, too");
    draft_.add(std::move(diagnostic));
    return owner;
  }

  /// Told once, at the first of its nodes.
  void report_circle(const std::vector<NodeId>& chain) {
    if (*std::min_element(chain.begin(), chain.end()) != id_) return;
    std::vector<std::string> names;
    std::transform(chain.begin(), chain.end(), std::back_inserter(names),
                   [&](NodeId id) { return draft_.nodes[id].node.name; });
    names.push_back(names.front());
    Diagnostic diagnostic = draft_.at_value(
        at("call"), "cycle",
        chain.size() == 1 ? fmt::format("{} calls itself", draft_.title(id_))
                          : fmt::format("nodes call each other in a circle: {}", fmt::join(names, " → ")));
    diagnostic.label = "one of them needs \"use\"";
    for (std::size_t i = 1; i < chain.size(); ++i) draft_.point_at(diagnostic, chain[i], "on the circle");
    draft_.add(std::move(diagnostic));
  }

  void refuse_keys(std::optional<NodeId> owner) {
    for (const char* const key : {"with", "of", "groups", "field", "frozen", "load"}) {
      if (member(key) == nullptr) continue;
      Diagnostic diagnostic = draft_.at_key(at(key), "misplaced-key",
                                            fmt::format("{} is a call and takes no \"{}\"", draft_.title(id_), key));
      if (owner) diagnostic.label = fmt::format("it belongs to {}", core::quoted(draft_.nodes[*owner].node.name));
      draft_.add(std::move(diagnostic));
    }
  }

  void take_component(NodeId owner) {
    const DraftNode& from = draft_.nodes[owner];
    each_.owner = owner;
    each_.node.call = from.node.name;
    each_.node.kind = from.node.kind;
    each_.node.component = from.node.component;
    each_.node.info = from.node.info;
    each_.known = from.known;
    each_.parameters = from.parameters;
    each_.in = from.in;
    each_.out = from.out;
    each_.in_open = from.in_open;
    each_.out_open = from.out_open;
  }
};

/// `frozen` and `load` of a model with a component of its own.
class ModelReader final : Linker {
 public:
  using Linker::Linker;

  void read() {
    const Json* const frozen = member("frozen");
    each_.node.frozen = frozen != nullptr && *frozen == true;
    const Json* const load = member("load");
    if (load != nullptr && load->is_string() && !load->get_ref<const std::string&>().empty()) read_load();
  }

 private:
  void read_load() {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::absolute(*draft_.resolved.path(at("load")), error);
    each_.node.load = path.lexically_normal();
    if (!draft_.rules.first_values || each_.disabled) return;
    if (std::filesystem::is_regular_file(each_.node.load, error)) return;
    const bool is_there = std::filesystem::exists(each_.node.load, error);
    Diagnostic diagnostic =
        draft_.at_value(at("load"), "missing-file",
                        fmt::format("{} {}", each_.node.load.string(), is_there ? "is no file" : "is not there"));
    diagnostic.label = fmt::format("the first values of {} are read from it", referrer_.who);
    draft_.add(std::move(diagnostic));
  }
};

}  // namespace

void read_calls(Draft& draft) {
  for (NodeId id = 0; id < draft.nodes.size(); ++id) {
    if (draft.nodes[id].json->is_object()) CallReader(draft, id).read();
  }
  for (NodeId id = 0; id < draft.nodes.size(); ++id) {
    const DraftNode& each = draft.nodes[id];
    if (each.node.kind == "model" && !each.owner && each.json->is_object()) ModelReader(draft, id).read();
  }
}

}  // namespace tenon::core
