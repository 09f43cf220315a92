// JSON pointers (RFC 6901) and the dotted paths of the command line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <core/json/json.hpp>

namespace tenon::core {

/// A key as one segment of a pointer: "~" becomes "~0", "/" becomes "~1".
[[nodiscard]] std::string escape_segment(std::string_view key);

/// The key that a segment stands for.
[[nodiscard]] std::string unescape_segment(std::string_view segment);

/// `pointer` + "/" + the escaped key (or the index).
[[nodiscard]] std::string child_pointer(std::string_view pointer, std::string_view key);
[[nodiscard]] std::string child_pointer(std::string_view pointer, std::size_t index);

/// The pointer without its last segment; that of the root is the root ("").
[[nodiscard]] std::string_view parent_pointer(std::string_view pointer) noexcept;

/// The unescaped last segment; empty for the root.
[[nodiscard]] std::string last_segment(std::string_view pointer);

/// The unescaped segments in order.
[[nodiscard]] std::vector<std::string> split_pointer(std::string_view pointer);

/// "/nodes/opt/with/lr" as "nodes.opt.with.lr"; array indices stay numbers ("stop.0.use"). For messages: a key that
/// holds a dot is written between double quotes.
[[nodiscard]] std::string dotted_path(std::string_view pointer);

/// "nodes.opt.with.lr" as "/nodes/opt/with/lr". Keys that hold a dot cannot be written so.
[[nodiscard]] std::string pointer_from_dotted(std::string_view dotted);

/// An array index in a segment: digits without a leading zero; nothing else, and nothing that overflows.
[[nodiscard]] std::optional<std::size_t> array_index(std::string_view segment) noexcept;

/// The value at a pointer, or null when there is none. Never throws.
[[nodiscard]] const Json* find_value(const Json& root, std::string_view pointer) noexcept;
[[nodiscard]] Json* find_value(Json& root, std::string_view pointer) noexcept;

/// The member of an object, or null when `object` is no object or has no such member. Never throws.
[[nodiscard]] const Json* find_member(const Json& object, std::string_view key) noexcept;

/// Adds a member that the object is known not to have, without the linear search of `operator[]`.
Json& append_member(Json& object, std::string key, Json value);

}  // namespace tenon::core
