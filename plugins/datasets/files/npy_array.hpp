// Arrays in numpy's format, wherever their bytes lie: in a file of their own or in an archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <files/npy_header.hpp>
#include <tenon/array.hpp>

namespace tenon::datasets {

/// A header, and the numbers behind it, all of which are there. A view.
struct NpyArray {
  NpyHeader header;
  std::span<const std::byte> data;
};

/// Takes the bytes of a .npy file apart. \throws Error (kData) that begins with `name`, with `pointer`.
[[nodiscard]] NpyArray read_npy(std::span<const std::byte> file, const std::string& name, const std::string& pointer);

/// "float32[3, 4]".
[[nodiscard]] std::string npy_text(Dtype dtype, std::span<const int64_t> shape);

/// Writes all numbers of an array in row-major order.
void copy_rows(const NpyArray& array, std::byte* to);

/// What the pipeline says of one sample.
struct NpySample {
  Dtype dtype = Dtype::kFloat32;
  Shape shape;
};

/// The samples that an array's first axis counts. A view.
class NpySamples {
 public:
  /// \throws Error (kData) that begins with `name`, with a pointer below `pointer`, that of what declares the sample:
  /// `array_at`, such as "/path", where there is no such axis; "/dtype" or "/shape" where the pipeline says something
  /// else.
  NpySamples(const NpyArray& array, const NpySample& declared, const std::string& name, const std::string& pointer,
             const std::string& array_at);

  [[nodiscard]] int64_t size() const noexcept { return size_; }

  /// A hash of all numbers; reads them.
  [[nodiscard]] uint64_t hash() const;

  /// Writes sample `index`, row-major.
  void read(int64_t index, std::byte* to) const;

  /// Where sample `index` lies, row-major; nullptr where it does not, or not aligned to its numbers.
  [[nodiscard]] const std::byte* at(int64_t index) const noexcept;

 private:
  std::span<const std::byte> data_;
  int64_t size_ = 0;
  Shape sample_;
  std::size_t width_ = 0;
  std::size_t bytes_ = 0;
  Shape strides_;  // of all axes in Fortran order, empty in C order
};

/// \throws Error (kData) when a sample is not as it is declared.
void require_npy(const NpySample& declared, const std::string& name, Dtype dtype, std::span<const int64_t> sample,
                 const std::string& pointer);

}  // namespace tenon::datasets
