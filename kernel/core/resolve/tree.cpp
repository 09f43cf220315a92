// Trees from documents and back to values.
#include <core/resolve/tree.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <core/json/pointer.hpp>

namespace tenon::core {
namespace {

struct Maker {
  const PlaceTable& places;
  const Origin& common;

  [[nodiscard]] Tree make(const Json& value, PlaceTable::Id id) const {
    Tree tree;
    tree.origin = common;
    tree.origin.key = places[id].key;
    tree.origin.value = places[id].value;
    if (value.is_object()) {
      tree.value = Json::object();
      tree.members.reserve(value.size());
      for (const auto& [key, member] : value.get_ref<const Json::object_t&>()) {
        tree.members.emplace_back(key, make(member, places.child(id, key).value_or(PlaceTable::kRoot)));
      }
    } else if (value.is_array()) {
      tree.value = Json::array();
      tree.elements.reserve(value.size());
      for (std::size_t i = 0; i < value.size(); ++i) {
        const std::string index = fmt::format("{}", i);
        tree.elements.push_back(make(value[i], places.child(id, index).value_or(PlaceTable::kRoot)));
      }
    } else {
      tree.value = value;
    }
    return tree;
  }
};

Json flatten_into(Tree& tree, PointerTable<Origin>& origins, PointerTable<Origin>::Id id) {
  Json value = std::move(tree.value);
  if (value.is_object()) {
    for (auto& [key, null] : tree.deleted) origins.put(id, key, std::move(null));
    for (auto& [key, member] : tree.members) {
      const auto child = origins.put(id, key, std::move(member.origin));
      append_member(value, key, flatten_into(member, origins, child));
    }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < tree.elements.size(); ++i) {
      const auto child = origins.put(id, fmt::format("{}", i), std::move(tree.elements[i].origin));
      value.push_back(flatten_into(tree.elements[i], origins, child));
    }
  }
  return value;
}

}  // namespace

Tree* Tree::find(std::string_view key) noexcept {
  const auto found = std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.first == key; });
  return found == members.end() ? nullptr : &found->second;
}

const Tree* Tree::find(std::string_view key) const noexcept {
  const auto found = std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.first == key; });
  return found == members.end() ? nullptr : &found->second;
}

bool Tree::erase(std::string_view key) {
  return std::erase_if(members, [&](const auto& member) { return member.first == key; }) > 0;
}

Tree make_tree(const Document& document, LayerKind kind, std::shared_ptr<const std::filesystem::path> folder) {
  Origin common;
  common.kind = kind;
  common.folder = std::move(folder);
  return Maker{document.places, common}.make(document.value, PlaceTable::kRoot);
}

Tree make_tree(const Json& value, const Origin& origin) {
  Tree tree{.value = value, .origin = origin};
  if (value.is_structured()) tree.value = value.is_object() ? Json::object() : Json::array();
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) tree.members.emplace_back(key, make_tree(member, origin));
  } else if (value.is_array()) {
    for (const Json& element : value) tree.elements.push_back(make_tree(element, origin));
  }
  return tree;
}

std::pair<Json, PointerTable<Origin>> flatten(Tree tree) {
  PointerTable<Origin> origins;
  origins[PointerTable<Origin>::kRoot] = tree.origin;
  Json value = flatten_into(tree, origins, PointerTable<Origin>::kRoot);
  return {std::move(value), std::move(origins)};
}

std::size_t count_values(const Tree& tree) noexcept {
  std::size_t count = 1;
  for (const auto& [key, member] : tree.members) count += count_values(member);
  for (const Tree& element : tree.elements) count += count_values(element);
  return count;
}

}  // namespace tenon::core
