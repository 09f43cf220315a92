// A table that stays in its file: rows are found by an index and parsed when they are read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <csv/column.hpp>
#include <csv/params.hpp>
#include <csv/rows.hpp>
#include <csv/table.hpp>
#include <files/mapped_file.hpp>
#include <tenon/sample.hpp>

namespace tenon::datasets {

/// The index takes half a byte a row: where every 16th one begins. Values and numbers of cells are looked at in read().
class MappedTable {
 public:
  /// One pass over the file. `params` outlives this object.
  /// \throws Error (kData): no text, no UTF-8, columns that are not there, no rows.
  MappedTable(MappedFile file, const CsvParams& params);

  [[nodiscard]] const CsvRows& rows() const noexcept { return rows_; }

  /// A hash of the file.
  [[nodiscard]] uint64_t hash() const noexcept { return hash_; }

  /// Parses a row. \throws Error (kData) with file, line and column. [any thread]
  void read(int64_t row, Sample& out) const;

  /// All values of a field that is one number; reads the whole file. \throws Error (kData) as read() does.
  [[nodiscard]] std::optional<std::vector<double>> numbers(std::string_view field) const;

 private:
  static constexpr int64_t kEvery = 16;

  void build();
  void count_all(std::size_t begin);
  void count_whole(std::size_t begin);
  void keep(std::size_t offset);
  [[nodiscard]] std::size_t find_row(int64_t row) const;
  [[nodiscard]] bool is_whole(const std::vector<Cell>& row, std::size_t offset, Problems& problems) const;
  [[noreturn]] void fail(const std::string& why) const;

  MappedFile file_;
  const CsvParams& params_;
  std::string_view text_;  // without byte order mark and line ends behind the last row
  std::vector<FieldParser> parsers_;
  std::optional<RowRules> rules_;
  std::size_t first_row_ = 0;  // where the first row of data begins
  std::vector<uint64_t> begins_;
  CsvRows rows_;
  uint64_t hash_ = 0;
};

}  // namespace tenon::datasets
