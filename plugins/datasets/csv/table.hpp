// A whole table in memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <csv/column.hpp>
#include <csv/params.hpp>

namespace tenon::datasets {

/// Fills the columns, one a field of the parameters, from the text of a file. The number of rows that were kept.
/// \throws Error (kData) with up to 20 faults of the text, each with file, line and column.
[[nodiscard]] int64_t load_csv(std::string_view text, const CsvParams& params, std::vector<FieldColumn>& columns);

}  // namespace tenon::datasets
