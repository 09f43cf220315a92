// The format idx of the MNIST files: a magic number, the sizes of the axes, and big-endian numbers.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <tenon/array.hpp>

namespace tenon::datasets {

/// A whole idx file in memory.
struct IdxFile {
  Dtype dtype = Dtype::kUint8;
  Shape shape;                  ///< Of all axes, samples first; never empty.
  std::vector<std::byte> data;  ///< Row-major numbers of this machine's byte order.

  [[nodiscard]] int64_t items() const { return shape.front(); }
  [[nodiscard]] Shape item_shape() const { return {shape.begin() + 1, shape.end()}; }
};

/// Reads a file, plain or packed by gzip: its first bytes tell, not its name. \throws Error (kData) that names the file,
/// with the pointer of the parameter that holds its path: no idx, cut off, too long, damaged.
[[nodiscard]] IdxFile read_idx(const std::filesystem::path& path, const std::string& pointer);

}  // namespace tenon::datasets
