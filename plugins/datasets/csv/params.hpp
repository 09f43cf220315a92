// Parameters of dataset:csv, and those that it shares with other datasets over tables.
#pragma once

#include <string>
#include <vector>

#include <tenon/params.hpp>

namespace tenon::datasets {

enum class CsvType { kNumber, kInteger, kText };
TENON_ENUM(CsvType, "number", "integer", "text")

enum class CsvFloat { kFloat32, kFloat64 };
TENON_ENUM(CsvFloat, "float32", "float64")

enum class CsvMissing { kError, kSkip };
TENON_ENUM(CsvMissing, "error", "skip")

enum class CsvMemory { kAuto, kLoaded, kMapped };
TENON_ENUM(CsvMemory, "auto", "loaded", "mapped")

/// For a struct with the member `std::string column`; require_one_way() checks it. `what` says which column.
template <class S>
[[nodiscard]] Field column_field(
    const std::string& what =
        "that makes a single value: its name in the header, or its position from \"1\" on where "
        "there is none") {
  return field(&S::column, "column",
               "Column " + what + "; without it and without columns, the column that is called like the field");
}

/// For a struct with the member `std::vector<std::string> columns`; require_one_way() checks it.
template <class S>
[[nodiscard]] Field columns_field(const std::string& what = "that make one vector of numbers") {
  return field(&S::columns, "columns", "Columns " + what + ", in this order; instead of column");
}

/// For a struct with the member `CsvFloat dtype`.
template <class S>
[[nodiscard]] Field float_field() {
  return field(&S::dtype, "dtype", "Type of numbers: parsed as float64, then rounded to this");
}

/// For a struct with the member `std::string delimiter`; require_delimiter() checks it.
template <class S>
[[nodiscard]] Field delimiter_field() {
  return field(&S::delimiter, "delimiter", "What separates cells: one character, such as \";\" or \"\\t\"");
}

/// For a struct with the member `bool header`.
template <class S>
[[nodiscard]] Field header_field() {
  return field(&S::header, "header", "Whether the first row names the columns");
}

/// For a struct with the member `CsvMissing missing`.
template <class S>
[[nodiscard]] Field missing_field() {
  return field(&S::missing, "missing",
               "What becomes of a row where a column in use is empty, NA, N/A, #N/A, NaN, null or ? (in any case, and "
               "not in quotes if it is text): error, or skip, which drops the row");
}

struct CsvField {
  std::string name;
  std::string column;
  std::vector<std::string> columns;
  CsvType type = CsvType::kNumber;
  CsvFloat dtype = CsvFloat::kFloat32;

  TENON_PARAMS(
      CsvField, field(&CsvField::name, "name", "Name of the field").required(), column_field<CsvField>(),
      columns_field<CsvField>(),
      field(&CsvField::type, "type",
            "number: of type dtype; integer: int64, also written as 3.0; text: uint8 of any length, UTF-8, for "
            "transform:encode_categories and the like"),
      float_field<CsvField>())
};

struct CsvParams {
  std::filesystem::path path;
  std::string delimiter = ",";
  bool header = true;
  std::vector<CsvField> fields;
  CsvMissing missing = CsvMissing::kError;
  CsvMemory memory = CsvMemory::kAuto;

  TENON_PARAMS(
      CsvParams,
      field(&CsvParams::path, "path",
            "File of comma-separated values (RFC 4180), UTF-8, plain or packed by gzip (loaded alone); numbers have a "
            "decimal point")
          .required(),
      delimiter_field<CsvParams>(), header_field<CsvParams>(),
      field(&CsvParams::fields, "fields", "Fields that the columns make; columns in none are left out")
          .min_items(1)
          .required(),
      missing_field<CsvParams>(),
      field(&CsvParams::memory, "memory",
            "loaded: all values are parsed and checked at the start, and kept in memory; mapped: rows are parsed when "
            "they are read, so the file may be larger than memory; auto: mapped above 1 GiB"))
};

}  // namespace tenon::datasets
