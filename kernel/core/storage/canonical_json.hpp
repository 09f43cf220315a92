// JSON text that is the same for the same content, and numbers that JSON has no spelling for.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <core/json/json.hpp>
#include <tenon/error.hpp>

namespace tenon::core {

/// Sorted members, two blanks of indentation, a newline at the end; non-finite numbers as "NaN", "Infinity",
/// "-Infinity". \throws Error (kStorage) for text that is not UTF-8.
[[nodiscard]] std::string canonical_text(const Json& json);

/// One line, members in their own order, without the newline; what is not UTF-8 becomes U+FFFD.
[[nodiscard]] std::string line_text(const Json& json);

/// A number, or the text that stands for a non-finite one.
[[nodiscard]] Json number_json(double value);

/// Reads what number_json wrote. \throws Error (kCheckpoint) for anything else.
[[nodiscard]] double number_of(const Json& json);

/// Parses text as JSON and nothing else: no comments, no duplicate members, no deeper than 64 levels. `AnyJson` is Json
/// or nlohmann::json. \throws std::invalid_argument that says where and what.
template <class AnyJson>
[[nodiscard]] AnyJson parse_strictly(std::string_view text);

extern template Json parse_strictly<Json>(std::string_view text);
extern template nlohmann::json parse_strictly<nlohmann::json>(std::string_view text);

/// A JSON file that this program wrote. \throws Error (`code`) naming file and place.
[[nodiscard]] Json read_json(const std::filesystem::path& path, ErrorCode code = ErrorCode::kCheckpoint);

}  // namespace tenon::core
