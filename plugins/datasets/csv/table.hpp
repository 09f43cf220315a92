// A whole table in memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <csv/column.hpp>
#include <csv/params.hpp>

namespace tenon::datasets {

/// How many rows of a table became items, and how many lacked a value and were dropped.
struct CsvRows {
  int64_t kept = 0;
  int64_t dropped = 0;
};

/// Fills the columns, one a field of the parameters, from the text of a file.
/// \throws Error (kData) with up to 20 faults of the text, each with file, line and column.
[[nodiscard]] CsvRows load_csv(std::string_view text, const CsvParams& params, std::vector<FieldColumn>& columns);

/// The text without a byte order mark.
[[nodiscard]] std::string_view without_mark(std::string_view text);

}  // namespace tenon::datasets
