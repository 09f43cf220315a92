// The rules by which layers merge.
#include <core/resolve/merge.hpp>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

constexpr std::size_t kMostSuggested = 500;

void report_null(const Tree& tree, const std::string& pointer, StrayNull stray,
                 const std::vector<std::string>& siblings, Diagnostics& diagnostics) {
  if (stray == StrayNull::kError) {
    Diagnostic diagnostic = diagnostic_at(tree, pointer, "null-value", fmt::format("{} is null", dotted_path(pointer)));
    diagnostic.label = "leave the key out, or give it a value";
    diagnostics.add(std::move(diagnostic));
    return;
  }
  Diagnostic diagnostic = diagnostic_at(tree, pointer, "nothing-to-delete",
                                        fmt::format("{} is not set, so null deletes nothing", dotted_path(pointer)));
  diagnostic.severity = Severity::kWarning;
  diagnostic.label = did_you_mean(last_segment(pointer), siblings);
  diagnostics.add(std::move(diagnostic));
}

/// Keys to suggest; none of an object too large for a person to have slipped in.
std::vector<std::string> keys_of(const Tree& tree) {
  std::vector<std::string> keys;
  if (tree.members.size() > kMostSuggested) return keys;
  for (const auto& [key, member] : tree.members) keys.push_back(key);
  return keys;
}

class Merger {
 public:
  Merger(StrayNull stray, Diagnostics& diagnostics) : stray_(stray), diagnostics_(diagnostics) {}

  void merge(Tree& base, Tree layer, const std::string& pointer) {
    if (!base.is_object() || !layer.is_object()) {
      remove_nulls(layer, pointer, stray_, diagnostics_);
      base = std::move(layer);
      return;
    }
    if (may_hold_component(pointer)) swap_component(base, layer);

    std::unordered_map<std::string, std::size_t> index;
    for (std::size_t i = 0; i < base.members.size(); ++i) index.emplace(base.members[i].first, i);
    std::vector<bool> deleted(base.members.size(), false);
    for (auto& [key, member] : layer.members) {
      const std::string child = child_pointer(pointer, key);
      const auto known = index.find(key);
      const bool present = known != index.end();
      if (member.is_null()) {
        if (present) {
          deleted[known->second] = true;
          base.deleted.emplace_back(key, std::move(member.origin));
        } else {
          report_null(member, child, stray_, keys_of(base), diagnostics_);
        }
      } else if (present) {
        merge(base.members[known->second].second, std::move(member), child);
      } else {
        remove_nulls(member, child, stray_, diagnostics_);
        base.members.emplace_back(key, std::move(member));
      }
    }
    if (std::find(deleted.begin(), deleted.end(), true) == deleted.end()) return;
    std::vector<std::pair<std::string, Tree>> kept;
    for (std::size_t i = 0; i < base.members.size(); ++i) {
      if (i >= deleted.size() || !deleted[i]) kept.push_back(std::move(base.members[i]));
    }
    base.members = std::move(kept);
  }

 private:
  /// Another component, of a node or among a component's parameters, has other parameters: the base's would only be
  /// stale.
  static void swap_component(Tree& base, const Tree& layer) {
    const Tree* before = base.find("use");
    const Tree* after = layer.find("use");
    if (before == nullptr || after == nullptr || before->value == after->value) return;
    base.erase("with");
    base.erase("groups");
    base.origin = layer.origin;
  }

  StrayNull stray_;
  Diagnostics& diagnostics_;
};

}  // namespace

Diagnostic diagnostic_at(const Tree& tree, std::string_view pointer, std::string code, std::string message) {
  return {.code = std::move(code),
          .message = std::move(message),
          .span = tree.origin.value,
          .pointer = std::string(pointer)};
}

void remove_nulls(Tree& tree, const std::string& pointer, StrayNull stray, Diagnostics& diagnostics) {
  for (auto& [key, member] : tree.members) {
    const std::string child = child_pointer(pointer, key);
    if (member.is_null()) {
      report_null(member, child, stray, {}, diagnostics);
    } else {
      remove_nulls(member, child, stray, diagnostics);
    }
  }
  for (std::size_t i = 0; i < tree.elements.size(); ++i) {
    const std::string child = child_pointer(pointer, i);
    if (tree.elements[i].is_null()) {
      report_null(tree.elements[i], child, StrayNull::kError, {}, diagnostics);
    } else {
      remove_nulls(tree.elements[i], child, stray, diagnostics);
    }
  }
  std::erase_if(tree.members, [](const auto& member) { return member.second.is_null(); });
  std::erase_if(tree.elements, [](const Tree& element) { return element.is_null(); });
}

bool may_hold_component(std::string_view pointer) noexcept {
  if (!pointer.starts_with("/nodes/")) return false;
  return parent_pointer(pointer) == "/nodes" || pointer.find("/with/") != std::string_view::npos;
}

void merge_layer(Tree& base, Tree layer, StrayNull stray, Diagnostics& diagnostics) {
  Merger(stray, diagnostics).merge(base, std::move(layer), "");
}

}  // namespace tenon::core
