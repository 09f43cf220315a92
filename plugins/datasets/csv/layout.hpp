// Which columns of a table make which fields.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <csv/params.hpp>

namespace tenon::datasets {

/// A cell of each row that goes somewhere.
struct Wanted {
  std::size_t column = 0;    ///< In the row.
  std::size_t field = 0;     ///< In the parameters.
  std::size_t position = 0;  ///< Among the field's own columns.
};

/// Sorted by column. `names`: the first row where there is a `header`, else "1", "2", …
/// \throws Error (kData) with the pointer of the first column that is not there, naming all such, the nearest to each
/// and all that there are.
[[nodiscard]] std::vector<Wanted> lay_out(std::span<const CsvField> fields, std::span<const std::string> names,
                                          bool header, const std::string& file);

}  // namespace tenon::datasets
