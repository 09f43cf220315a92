// A dataset of the rows that predict() is given.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <core/plugin/manifest.hpp>
#include <tenon/array.hpp>
#include <tenon/spec.hpp>

namespace tenon::kernel {

/// Rows as they are at the moment: one array a field, in the order of `fields`, with the rows as first axis.
struct Rows {
  Spec fields;
  std::vector<const std::byte*> data;
  std::vector<Shape> row_shapes;
  int64_t count = 0;
};

inline constexpr const char* kRowsDataset = "dataset:rows_in_memory";

/// The plugin that brings it, with the fields of `rows` as its ports. Nothing reads while `rows` changes.
[[nodiscard]] core::PluginInfo rows_plugin(std::shared_ptr<const Rows> rows);

}  // namespace tenon::kernel
