// Small tables in .npy files, and plain references over them.
#pragma once

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <engine/tensor_files.hpp>

namespace tenon::engine {

/// A float32 matrix as numpy writes it (format 1.0).
inline void write_npy(const std::filesystem::path& file, const at::Tensor& matrix) {
  const at::Tensor values = matrix.to(at::kFloat).contiguous();
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(values.size(0)) + ", " +
                       std::to_string(values.size(1)) + "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::ofstream out(file, std::ios::binary);
  out << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(header.size() & 0xFFU)
      << static_cast<char>(header.size() >> 8U) << header;
  out.write(static_cast<const char*>(values.const_data_ptr()), static_cast<std::streamsize>(values.nbytes()));
}

/// Numbers without a pattern, exact in float32, between -1 and 1.
inline at::Tensor numbers(int64_t rows, int64_t columns, double phase) {
  const at::Tensor at = at::arange(rows * columns, at::kDouble).reshape({rows, columns});
  return at.mul(1.7).add(phase).sin().mul(1024).round().div(1024);
}

/// A node dataset:npy with float32 vectors x and y in files of these names.
inline std::string npy_dataset(const std::string& x, int64_t width_of_x, const std::string& y, int64_t width_of_y) {
  const auto field = [](const char* name, const std::string& path, int64_t width) {
    return std::string(R"({"name":")") + name + R"(","path":")" + path + R"(","dtype":"float32","shape":[)" +
           std::to_string(width) + "]}";
  };
  return R"({"use":"dataset:npy","with":{"fields":[)" + field("x", x, width_of_x) + "," + field("y", y, width_of_y) +
         "]}}";
}

/// Weights of model:mlp without hidden layers: one affine map.
struct Affine {
  at::Tensor weight;
  at::Tensor bias;

  [[nodiscard]] at::Tensor operator()(const at::Tensor& x) const { return x.matmul(weight.t()) + bias; }
  void save(const std::filesystem::path& file) const {
    write_tensors(file, {{"head.weight", weight}, {"head.bias", bias}});
  }
  static Affine read(const std::filesystem::path& file) {
    const Tensors tensors = read_tensors(file);
    return {tensors.at("head.weight").to(at::kDouble), tensors.at("head.bias").to(at::kDouble)};
  }
};

/// The greatest difference of two files with the same names.
inline double file_difference(const std::filesystem::path& a, const std::filesystem::path& b) {
  const Tensors left = read_tensors(a);
  const Tensors right = read_tensors(b);
  EXPECT_EQ(left.size(), right.size());
  EXPECT_FALSE(left.empty());
  double most = 0;
  for (const auto& [name, tensor] : left) {
    EXPECT_TRUE(at::isfinite(tensor).all().item<bool>()) << name;
    most = std::max(most, (tensor - right.at(name)).abs().max().item<double>());
  }
  return most;
}

}  // namespace tenon::engine
