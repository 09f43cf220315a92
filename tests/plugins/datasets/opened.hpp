// Datasets over files, opened, and what they read.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <core/storage/temporary_folder.hpp>
#include <nlohmann/json.hpp>
#include <plugins/support/plugin.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/harness/memory_sample.hpp>

namespace tenon::test {

using core::put;
using core::TemporaryFolder;
using Json = nlohmann::json;

inline Made<Dataset> made(const std::string& name, const Json& params) {
  return make<Dataset>("tenon_datasets", name, params.dump());
}

inline Made<Dataset> opened(const std::string& name, const Json& params) {
  auto dataset = made(name, params);
  dataset->open({});
  return dataset;
}

/// The error of making or opening it.
inline Error refused(const std::string& name, const Json& params) {
  return error_of([&] { (void)opened(name, params); });
}

/// One field of all items, one behind the other.
template <class T>
std::vector<T> column(const Dataset& dataset, const std::string& field) {
  std::vector<T> all;
  for (int64_t i = 0; i < dataset.size(); ++i) {
    MemorySample sample(dataset.spec());
    dataset.read(i, sample);
    const std::vector<T> values = sample.written<T>(field);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

inline std::string text_of(const Spec& spec) {
  std::string text;
  for (const FieldSpec& field : spec) text += (text.empty() ? "" : ", ") + field.name + " " + to_string(field);
  return text;
}

/// EXPECT that an error has this code and pointer, and says each of these.
inline void expect_error(const Error& error, ErrorCode code, const std::string& pointer,
                         const std::vector<std::string>& says) {
  const std::string message = error.what();
  EXPECT_EQ(error.code(), code) << message;
  EXPECT_EQ(error.pointer(), pointer) << message;
  for (const std::string& part : says) EXPECT_NE(message.find(part), std::string::npos) << part << "\n in " << message;
}

/// The bytes of a number, lowest first.
template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace tenon::test
