// Rows and cells of comma-separated text, as RFC 4180 has them.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <csv/problems.hpp>

namespace tenon::datasets {

/// One cell as it lies in the text.
struct Cell {
  std::size_t offset = 0;  ///< Where it begins, its quote included.
  std::string_view raw;    ///< Without the quotes around it.
  bool quoted = false;
  bool doubled = false;  ///< Holds quotes written twice.

  /// What the cell says; `scratch` holds it where it differs from what is written.
  [[nodiscard]] std::string_view value(std::string& scratch) const;
};

/// Walks over the rows: each ends with \n, \r\n or the text. Line ends behind the last row make no rows.
class Scanner {
 public:
  /// `delimiter` is neither a quote nor a line end; `begin` is where a row begins. Text and problems outlive the
  /// scanner.
  Scanner(std::string_view text, char delimiter, Problems& problems, std::size_t begin = 0);

  /// The cells of the next row; false at the end of the text. What is against the rules goes to the problems, and such
  /// rows are left out.
  bool next(std::vector<Cell>& row);

  /// Where the row begins that next() gave.
  [[nodiscard]] std::size_t row_offset() const { return row_offset_; }

  /// Where the next row begins.
  [[nodiscard]] std::size_t position() const { return at_; }

 private:
  Cell quoted_cell();
  Cell plain_cell();
  bool end_row();
  [[nodiscard]] std::string other_delimiter(std::size_t at) const;
  void report(std::size_t offset, const std::string& message);

  std::string_view text_;
  char delimiter_;
  Problems& problems_;
  std::array<bool, 256> ends_plain_{};
  std::size_t at_ = 0;
  std::size_t row_offset_ = 0;
  bool broken_ = false;
};

}  // namespace tenon::datasets
