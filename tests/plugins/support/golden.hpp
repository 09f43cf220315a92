// What Python's torch says, as tests/golden/make_golden.py wrote it down.
#pragma once

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <nlohmann/json.hpp>

namespace tenon::test {

/// tests/golden/<name>.json
[[nodiscard]] inline nlohmann::json golden(const std::string& name) {
  const std::string path = std::string(TENON_SOURCE_DIR) + "/tests/golden/" + name + ".json";
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + " cannot be read");
  return nlohmann::json::parse(file);
}

[[nodiscard]] inline at::Tensor tensor_of(const std::vector<double>& values) {
  return at::tensor(values, at::TensorOptions(at::kDouble));
}

/// A tensor written as {"shape": […], "values": […]}: whole numbers as int64, others as float64.
[[nodiscard]] inline at::Tensor tensor_of(const nlohmann::json& packed) {
  const at::Tensor values = tensor_of(packed.at("values").get<std::vector<double>>());
  const bool whole = packed.at("values").at(0).is_number_integer();
  return values.view(packed.at("shape").get<std::vector<int64_t>>()).to(whole ? at::kLong : at::kDouble);
}

}  // namespace tenon::test
