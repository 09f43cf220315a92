// One field of dataset:csv in memory, filled row by row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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

/// How cells become the values of one field.
class FieldParser {
 public:
  explicit FieldParser(const CsvField& field);

  [[nodiscard]] const FieldSpec& spec() const { return spec_; }
  [[nodiscard]] bool is_text() const { return type_ == CsvType::kText; }

  /// Of a row of numbers.
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] std::size_t row_bytes() const { return row_bytes_; }

  /// Parses a cell of numbers to its place in a row: what is wrong with it, or nothing. `position` counts the field's
  /// own columns.
  std::optional<std::string> parse(std::size_t position, const Cell& cell, std::byte* row) const;

 private:
  CsvType type_;
  FieldSpec spec_;
  Shape shape_;
  std::size_t row_bytes_ = 0;
};

/// The rows of one field: numbers [rows, columns], or texts one behind the other.
class FieldColumn {
 public:
  explicit FieldColumn(const CsvField& field) : parser_(field), row_(parser_.row_bytes()) {}

  [[nodiscard]] const FieldParser& parser() const { return parser_; }
  [[nodiscard]] const FieldSpec& spec() const { return parser_.spec(); }

  /// Makes room for so many rows.
  void reserve(std::size_t rows);

  /// Parses a cell of the row that is being read. What is wrong with it, or nothing. `position` counts the field's own
  /// columns.
  std::optional<std::string> put(std::size_t position, const Cell& cell);

  /// The row is whole: keeps it.
  void commit();

  void read(int64_t row, int position, Sample& out) const;

  /// Where a row lies.
  [[nodiscard]] std::span<const std::byte> at(int64_t row) const;

  /// All values, where a row is one number.
  [[nodiscard]] std::optional<std::vector<double>> numbers() const;

  /// Bytes of each text, where a row is one.
  [[nodiscard]] std::optional<std::vector<int64_t>> lengths() const;

  /// A hash of all values.
  [[nodiscard]] uint64_t hash() const;

 private:
  FieldParser parser_;
  std::vector<std::byte> row_;     // numbers of the row that is being read
  std::vector<std::byte> values_;  // numbers, or texts
  std::vector<std::size_t> ends_;  // of texts in values_
  std::string text_;               // of the row that is being read
};

}  // namespace tenon::datasets
