// A column of class names as numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <csv/column.hpp>

namespace tenon::image_datasets {

[[nodiscard]] inline std::string_view text_at(const datasets::FieldColumn& texts, int64_t row) {
  const auto bytes = texts.at(row);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct ClassColumn {
  std::vector<std::string> names;  ///< Of the classes, in the order of their numbers.
  std::vector<int64_t> numbers;    ///< One a row.
};

/// The place of each row's text among the classes: those given, or all texts sorted by their bytes.
/// \throws Error (kData) with `pointer` for texts that `classes` does not name, listing them, without the file's name.
[[nodiscard]] ClassColumn class_column(const datasets::FieldColumn& texts, int64_t rows,
                                       const std::optional<std::vector<std::string>>& classes,
                                       const std::string& pointer);

}  // namespace tenon::image_datasets
