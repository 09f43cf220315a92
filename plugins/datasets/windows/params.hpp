// Parameters of dataset:windows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <csv/params.hpp>
#include <npy/array_dataset.hpp>
#include <tenon/params.hpp>

namespace tenon::datasets {

enum class WindowsPart { kWindow, kAhead, kLast, kThen };
TENON_ENUM(WindowsPart, "window", "ahead", "last", "then")

struct WindowsField {
  std::string name;
  WindowsPart part = WindowsPart::kWindow;
  NpyType dtype = NpyType::kFloat32;
  std::string folder;
  std::vector<int64_t> shape;
  std::string column;
  std::vector<std::string> columns;

  TENON_PARAMS(
      WindowsField, field(&WindowsField::name, "name", "Name of the field").required(),
      field(&WindowsField::part, "part",
            "window: the steps of the window, [length, …]; ahead: the horizon's steps behind it, [horizon, …]; "
            "last: the window's last step alone, such as its label; then: the horizon's last step alone"),
      field(&WindowsField::dtype, "dtype",
            "Type of the numbers: that of the .npy files; float32, float64 or int64 from a table"),
      field(&WindowsField::folder, "folder",
            "Folder within path that holds this field's .npy files, of the same names as the others'; \"\" for "
            "path itself"),
      field(&WindowsField::shape, "shape", "Shape of one step in the .npy files, which are [steps, …]").min(1),
      column_field<WindowsField>("of a table that makes one number a step"),
      columns_field<WindowsField>("of a table that make a vector a step"))
};

/// Of length, stride and horizon: sums of them are not beyond int64.
inline constexpr double kMostSteps = 1e12;

struct WindowsParams {
  std::filesystem::path path;
  std::string group;
  std::string delimiter = ",";
  int64_t length = 0;
  std::optional<int64_t> stride;
  int64_t horizon = 0;
  std::vector<WindowsField> fields;

  TENON_PARAMS(
      WindowsParams,
      field(
          &WindowsParams::path, "path",
          "Folder of recordings, each a .npy file [steps, …]; or a table of comma-separated values with a header, each "
          "row a step")
          .required(),
      field(&WindowsParams::group, "group",
            "Column of the table that names the recording of a row, whose steps are in the order of the rows; \"\" for "
            "one recording"),
      delimiter_field<WindowsParams>(),
      field(&WindowsParams::length, "length", "Steps of a window").min(1).max(kMostSteps).required(),
      field(&WindowsParams::stride, "stride",
            "Steps from the beginning of a window to that of the next; auto: length, so that no step comes twice")
          .min(1)
          .max(kMostSteps),
      field(&WindowsParams::horizon, "horizon", "Steps behind a window, which fields of the parts ahead and then give")
          .min(0)
          .max(kMostSteps),
      field(&WindowsParams::fields, "fields", "Fields").min_items(1).required())
};

}  // namespace tenon::datasets
