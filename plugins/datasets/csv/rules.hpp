// What datasets over tables have in common: checks of their parameters, and a remark.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <csv/table.hpp>

namespace tenon::datasets {

/// \throws Error (kConfig) at "/delimiter" unless it is one ASCII character that can separate cells.
void require_delimiter(const std::string& delimiter);

/// A field is made by one column, or by several that hold numbers. `pointer`: of the field.
/// \throws Error (kConfig) for both, or for several of `texts`.
void require_one_way(const std::string& column, const std::vector<std::string>& columns, bool texts,
                     const std::string& pointer);

/// That rows were left out since they lack a value; nothing where none was.
[[nodiscard]] std::vector<std::string> left_out(const std::filesystem::path& path, const CsvRows& rows);

}  // namespace tenon::datasets
