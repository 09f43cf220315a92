// Small files of images that need no encoder, and datasets over them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <plugins/datasets/opened.hpp>
#include <tenon/components/columns.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/components/item_names.hpp>
#include <tenon/components/partial_read.hpp>
#include <tenon/components/remarks.hpp>

namespace tenon::test {

inline Made<Dataset> images_made(const std::string& name, const Json& params) {
  return make<Dataset>("tenon_image_datasets", name, params.dump());
}

inline Made<Dataset> images_opened(const std::string& name, const Json& params) {
  auto dataset = images_made(name, params);
  dataset->open({});
  return dataset;
}

/// The error of making or opening it.
inline Error images_refused(const std::string& name, const Json& params) {
  return error_of([&] { (void)images_opened(name, params); });
}

/// The error of reading an item.
inline Error unreadable(const Dataset& dataset, int64_t index) {
  return error_of([&] {
    MemorySample sample(dataset.spec());
    dataset.read(index, sample);
  });
}

/// PGM: values of grey, row by row.
inline std::string pgm(std::size_t width, std::size_t height, const std::string& values) {
  return "P5 " + std::to_string(width) + " " + std::to_string(height) + " 255\n" + values;
}

/// PGM with the values first, first + 1, …
inline std::string slope(std::size_t width, std::size_t height, char first = 1) {
  std::string values;
  for (std::size_t i = 0; i < width * height; ++i) values += static_cast<char>(first + static_cast<int>(i % 100));
  return pgm(width, height, values);
}

template <class T>
std::vector<T> field_of(const Dataset& dataset, int64_t index, const std::string& field) {
  MemorySample sample(dataset.spec());
  dataset.read(index, sample);
  return sample.written<T>(field);
}

inline Shape shape_of(const Dataset& dataset, int64_t index, const std::string& field) {
  MemorySample sample(dataset.spec());
  dataset.read(index, sample);
  return sample.written_shape(field);
}

/// The names of a field's numbers.
inline std::optional<std::vector<std::string>> categories_of(Dataset& dataset, const std::string& field) {
  return ability<Categorical>(dataset)->categories(field);
}

inline std::string item_name(Dataset& dataset, int64_t index) { return ability<ItemNames>(dataset)->item_name(index); }

inline std::vector<std::string> remarks_of(Dataset& dataset) { return ability<Remarks>(dataset)->remarks(); }

inline std::string joined(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

}  // namespace tenon::test
