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

/// Sorted by column. `names`: the header, or "1", "2", … without one.
/// \throws Error (kData) with the pointer of the first column that is not there, naming all of them and the nearest.
[[nodiscard]] std::vector<Wanted> lay_out(std::span<const CsvField> fields, std::span<const std::string> names,
                                          const std::string& file);

}  // namespace tenon::datasets
