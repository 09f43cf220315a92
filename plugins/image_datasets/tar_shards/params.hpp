// Parameters of dataset:tar_shards.
#pragma once

#include <string>
#include <vector>

#include <decode/fields.hpp>
#include <decode/options.hpp>
#include <tenon/params.hpp>

namespace tenon::image_datasets {

enum class ShardType { kImage, kInteger, kNumber, kText, kBytes, kNpy };
TENON_ENUM(ShardType, "image", "integer", "number", "text", "bytes", "npy")

enum class ShardDtype { kBool, kUint8, kInt8, kInt16, kInt32, kInt64, kFloat16, kFloat32, kFloat64 };
TENON_ENUM(ShardDtype, "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")

enum class ShardMissing { kError, kSkip };
TENON_ENUM(ShardMissing, "error", "skip")

struct ShardField {
  std::string name;
  ShardType type = ShardType::kImage;
  std::vector<std::string> extensions;
  std::string pick;
  ShardDtype dtype = ShardDtype::kFloat32;
  std::vector<int64_t> shape;

  TENON_PARAMS(
      ShardField, field(&ShardField::name, "name", "Name of the field").required(),
      field(&ShardField::type, "type",
            "image; integer: int64; number: float32; text: uint8 of any length, checked as UTF-8; bytes: uint8 of "
            "any length; npy: an array of dtype and shape")
          .required(),
      field(&ShardField::extensions, "extensions",
            "What is behind the first point of the file's name, in any case; [] for the usual ones: jpg, jpeg, "
            "png, webp, ppm, bmp, tif or tiff of an image, cls of an integer, txt of a text, npy, and json with "
            "pick"),
      field(&ShardField::pick, "pick",
            "Takes the value from a JSON file: its key, or keys and places in lists such as \"boxes.0.kind\"; \"\" "
            "takes the file itself"),
      field(&ShardField::dtype, "dtype", "Type of the numbers of an npy file"),
      field(
          &ShardField::shape, "shape",
          "Shape of an npy file; -1 for an axis whose length differs from sample to sample, such as [-1, 4] for boxes")
          .min(-1))
};

struct TarShardsParams {
  std::vector<std::filesystem::path> paths;
  std::vector<ShardField> fields;
  ShardMissing missing = ShardMissing::kError;
  Color color = Color::kRgb;
  int64_t bits = 8;
  Orientation orientation = Orientation::kApply;

  TENON_PARAMS(
      TarShardsParams,
      field(&TarShardsParams::paths, "paths",
            "Archives, one behind the other; a name may be a pattern, such as train-{000..146}.tar or train-*.tar")
          .min_items(1)
          .required(),
      field(&TarShardsParams::fields, "fields", "Fields, each from the files of some extensions")
          .min_items(1)
          .required(),
      field(&TarShardsParams::missing, "missing",
            "What becomes of a sample that lacks a field's file: error, or skip, which drops it"),
      color_field<TarShardsParams>(), bits_field<TarShardsParams>(), orientation_field<TarShardsParams>())
};

}  // namespace tenon::image_datasets
