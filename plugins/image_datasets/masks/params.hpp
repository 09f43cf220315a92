// The parameters that say which values of masks are which classes, the same for all datasets with masks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tenon/params.hpp>

namespace tenon::image_datasets {

/// For a struct with the member `std::map<std::string, int64_t> values`.
template <class S>
[[nodiscard]] Field values_field() {
  return field(
      &S::values, "values",
      "Class of each value in the files of masks, such as {\"7\": 0, \"11\": 1}; without it every value is its "
      "own class");
}

/// For a struct with the member `std::vector<int64_t> ignore`.
template <class S>
[[nodiscard]] Field ignore_field() {
  return field(&S::ignore, "ignore",
               "Values in the files of masks that become 255, which losses and metrics over pixels leave out, as 255 "
               "does itself")
      .min(0)
      .max(255);
}

/// For a struct with the member `bool ignore_others`.
template <class S>
[[nodiscard]] Field ignore_others_field() {
  return field(&S::ignore_others, "ignore_others",
               "Whether all values in masks that are no class become 255; else they are an error");
}

}  // namespace tenon::image_datasets
