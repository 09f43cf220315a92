// Rows of named fields in memory: what goes into a prediction, and what comes out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tenon/array.hpp>
#include <tenon/kernel/export.hpp>

namespace tenon::kernel {

/// One field of a batch of samples, contiguous, with the rows as first axis. A view: the memory belongs to the caller
/// and has to live during the call alone that takes the column.
struct Column {
  Column() = default;

  /// The elements of a std::vector, std::array, std::span, … of a type that has a Dtype; `row` is the shape of one
  /// sample, {} for a number. The number of rows follows from it.
  template <std::ranges::contiguous_range Values>
  Column(std::string field, const Values& values, Shape row)
      : name(std::move(field)),
        data(std::ranges::data(values)),
        dtype(dtype_for<std::ranges::range_value_t<Values>>()),
        row_shape(std::move(row)),
        elements(static_cast<int64_t>(std::ranges::size(values))) {}

  std::string name;
  const void* data = nullptr;
  Dtype dtype = Dtype::kFloat32;
  Shape row_shape;
  int64_t elements = 0;  ///< Of all rows.
};

/// One predicted output. Owns its values.
struct PredictedColumn {
  std::string name;
  Dtype dtype = Dtype::kFloat32;
  Shape shape;                          ///< The first axis counts the rows.
  std::vector<std::byte> bytes;         ///< Row-major.
  std::vector<std::string> categories;  ///< The text of each class, or of each number; empty when there are none.

  /// All values as T. \throws kernel::Error (kData) when T is not the column's type, naming both.
  template <class T>
  [[nodiscard]] std::span<const T> as() const {
    require(dtype_for<T>());
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

 private:
  TENON_KERNEL_API void require(Dtype wanted) const;
};

/// What was predicted: one row for each row that was given, in the same order.
struct Predictions {
  int64_t rows = 0;
  std::vector<PredictedColumn> columns;  ///< As "predict" of the pipeline lists them.

  /// The output of that name. \throws kernel::Error (kConfig) that lists those that are there.
  [[nodiscard]] TENON_KERNEL_API const PredictedColumn& at(std::string_view name) const;
};

}  // namespace tenon::kernel
