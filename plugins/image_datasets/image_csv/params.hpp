// Parameters of dataset:image_csv.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <csv/params.hpp>
#include <decode/fields.hpp>
#include <decode/options.hpp>

namespace tenon::image_datasets {

enum class ImageCsvType { kNumber, kInteger, kText, kClass };
TENON_ENUM(ImageCsvType, "number", "integer", "text", "class")

struct ImageCsvField {
  std::string name;
  std::string column;
  std::vector<std::string> columns;
  ImageCsvType type = ImageCsvType::kNumber;
  std::optional<std::vector<std::string>> classes;
  datasets::CsvFloat dtype = datasets::CsvFloat::kFloat32;

  TENON_PARAMS(
      ImageCsvField, field(&ImageCsvField::name, "name", "Name of the field").required(),
      datasets::column_field<ImageCsvField>(), datasets::columns_field<ImageCsvField>(),
      field(&ImageCsvField::type, "type",
            "number: of type dtype; integer: int64; text: uint8 of any length; class: int64, the place of the "
            "text among the classes"),
      field(&ImageCsvField::classes, "classes",
            "Classes in the order of their numbers, of type class; \"auto\" takes all texts of the column, sorted "
            "by their bytes")
          .min_items(1),
      datasets::float_field<ImageCsvField>())
};

struct ImageCsvParams {
  std::filesystem::path path;
  std::optional<std::filesystem::path> root;
  std::string image = "image";
  std::string delimiter = ",";
  bool header = true;
  std::vector<ImageCsvField> fields;
  datasets::CsvMissing missing = datasets::CsvMissing::kError;
  Color color = Color::kRgb;
  int64_t bits = 8;
  Orientation orientation = Orientation::kApply;

  TENON_PARAMS(ImageCsvParams,
               field(&ImageCsvParams::path, "path", "File of comma-separated values (RFC 4180), UTF-8, a row an image")
                   .required(),
               field(&ImageCsvParams::root, "root",
                     "Folder from which the names of images count; \"auto\" is that of the file of values"),
               field(&ImageCsvParams::image, "image",
                     "Column with the images' file names, relative to root or absolute"),
               datasets::delimiter_field<ImageCsvParams>(), datasets::header_field<ImageCsvParams>(),
               field(&ImageCsvParams::fields, "fields",
                     "Fields beside the image that columns make; columns in none are left out"),
               datasets::missing_field<ImageCsvParams>(), color_field<ImageCsvParams>(), bits_field<ImageCsvParams>(),
               orientation_field<ImageCsvParams>())
};

}  // namespace tenon::image_datasets
