// Parameters of dataset:csv.
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

struct CsvField {
  std::string name;
  std::string column;
  std::vector<std::string> columns;
  CsvType type = CsvType::kNumber;
  CsvFloat dtype = CsvFloat::kFloat32;

  TENON_PARAMS(
      CsvField, field(&CsvField::name, "name", "Name of the field").required(),
      field(&CsvField::column, "column",
            "Column that makes a single value: its name in the header, or its position from \"1\" on where "
            "there is none; without it and without columns, the column that is called like the field"),
      field(&CsvField::columns, "columns",
            "Columns that make one vector, in this order; instead of column, and not of texts"),
      field(&CsvField::type, "type",
            "number: of type dtype; integer: int64, also written as 3.0; text: uint8 of any length, UTF-8, for "
            "transform:encode_categories and the like"),
      field(&CsvField::dtype, "dtype", "Type of numbers: parsed as float64, then rounded to this"))
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
      field(&CsvParams::delimiter, "delimiter", "What separates cells: one character, such as \";\" or \"\\t\""),
      field(&CsvParams::header, "header", "Whether the first row names the columns"),
      field(&CsvParams::fields, "fields", "Fields that the columns make; columns in none are left out")
          .min_items(1)
          .required(),
      field(&CsvParams::missing, "missing",
            "What becomes of a row where a column in use is empty, NA, N/A, #N/A, NaN, null or ? (in any case, and "
            "not in quotes if it is text): error, or skip, which drops the row"),
      field(&CsvParams::memory, "memory",
            "loaded: all values are parsed and checked at the start, and kept in memory; mapped: rows are parsed when "
            "they are read, so the file may be larger than memory; auto: mapped above 1 GiB"))
};

}  // namespace tenon::datasets
