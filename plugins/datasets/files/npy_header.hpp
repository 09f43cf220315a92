// The header of a .npy file: what numpy wrote about the numbers behind it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <tenon/array.hpp>

namespace tenon::datasets {

struct NpyHeader {
  Dtype dtype = Dtype::kFloat32;
  bool fortran_order = false;  ///< The first axis runs fastest.
  Shape shape;
  std::size_t data_offset = 0;  ///< Bytes before the numbers.
};

/// A header with the numbers' type as numpy has it.
struct NpyLayout {
  std::string code;   ///< Without the byte order: "u2".
  std::string descr;  ///< As it is written: "'<u2'".
  bool fortran_order = false;
  Shape shape;
  std::size_t data_offset = 0;
};

/// Parses the format 1.0, 2.0 or 3.0 (numpy.lib.format) at the start of `file`, whose length does not matter otherwise.
/// \throws Error (kData) saying what is wrong, without the file's name: no .npy, cut off, damaged, Python objects,
/// structured or big-endian numbers, a type that fields do not have.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view file);

/// Likewise, of any type of single little-endian numbers.
[[nodiscard]] NpyLayout parse_npy_layout(std::string_view file);

}  // namespace tenon::datasets
