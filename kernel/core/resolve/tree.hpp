// A JSON value whose every part knows its origin: what layers are merged in.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <core/json/json.hpp>
#include <core/json/pointer_table.hpp>
#include <core/json/reader.hpp>
#include <core/resolve/origin.hpp>

namespace tenon::core {

struct Tree {
  Json value = {};  ///< The scalar; for objects and arrays an empty one.
  std::vector<std::pair<std::string, Tree>> members = {};
  std::vector<Tree> elements = {};
  std::vector<std::pair<std::string, Origin>> deleted = {};  ///< Members that a layer's null took away, and that null.
  Origin origin = {};

  [[nodiscard]] bool is_object() const noexcept { return value.is_object(); }
  [[nodiscard]] bool is_array() const noexcept { return value.is_array(); }
  [[nodiscard]] bool is_null() const noexcept { return value.is_null(); }

  /// The text of a string, or null.
  [[nodiscard]] const std::string* text() const noexcept { return value.get_ptr<const std::string*>(); }

  /// The member of an object, or null. Linear.
  [[nodiscard]] Tree* find(std::string_view key) noexcept;
  [[nodiscard]] const Tree* find(std::string_view key) const noexcept;

  /// Removes a member; false when there is none.
  bool erase(std::string_view key);
};

/// The document as a tree; each part has the origin (kind, places, folder).
[[nodiscard]] Tree make_tree(const Document& document, LayerKind kind,
                             std::shared_ptr<const std::filesystem::path> folder);

/// A value whose every part has this origin.
[[nodiscard]] Tree make_tree(const Json& value, const Origin& origin);

/// The tree as a value, and its origins by pointer; a member that was deleted has that of the null.
[[nodiscard]] std::pair<Json, PointerTable<Origin>> flatten(Tree tree);

/// Number of values in a tree, itself included.
[[nodiscard]] std::size_t count_values(const Tree& tree) noexcept;

}  // namespace tenon::core
