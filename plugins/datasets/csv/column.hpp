// One field of dataset:csv in memory, filled row by row.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <csv/params.hpp>
#include <csv/scanner.hpp>
#include <tenon/sample.hpp>
#include <tenon/spec.hpp>

namespace tenon::datasets {

/// True for a cell that stands for no value: empty, NA, N/A, #N/A, NaN, null or ?, in any case. In quotes these are text, but
/// still no number.
[[nodiscard]] bool is_missing(const Cell& cell, CsvType type);

/// True for a text that is a number and nothing else.
[[nodiscard]] bool is_number(std::string_view text);

/// True for a cell in which a number may have been meant: it has a digit, or says inf or nan.
[[nodiscard]] bool may_be_number(const Cell& cell);

/// The rows of one field: numbers [rows, columns], or texts one behind the other.
class FieldColumn {
 public:
  explicit FieldColumn(const CsvField& field);

  [[nodiscard]] const FieldSpec& spec() const { return spec_; }

  /// Makes room for so many rows.
  void reserve(std::size_t rows);

  /// Parses a cell of the row that is being read. What is wrong with it, or nothing. `position` counts the field's own
  /// columns.
  std::optional<std::string> put(std::size_t position, const Cell& cell);

  /// The row is whole: keeps it.
  void commit();

  void read(int64_t row, int position, Sample& out) const;

  /// A hash of all values.
  [[nodiscard]] uint64_t hash() const;

 private:
  CsvType type_;
  FieldSpec spec_;
  Shape shape_;                    // of a row of numbers
  std::vector<std::byte> row_;     // numbers of the row that is being read
  std::vector<std::byte> values_;  // numbers, or texts
  std::vector<std::size_t> ends_;  // of texts in values_
  std::string text_;               // of the row that is being read
};

}  // namespace tenon::datasets
