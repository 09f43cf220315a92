// Where a field of dataset:npy comes from: one file with all samples, or a folder with one file a sample.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include <files/npy_array.hpp>

namespace tenon::datasets {

/// What the pipeline says of a field.
struct NpyDeclared {
  std::filesystem::path path;
  NpySample sample;
  std::string pointer;  ///< Of the field's parameters, such as "/fields/0".
};

/// The samples of one field. All of it is safe on many threads.
class NpySource {
 public:
  virtual ~NpySource() = default;

  [[nodiscard]] virtual int64_t size() const = 0;

  /// A hash of all numbers; reads them.
  [[nodiscard]] virtual uint64_t hash() const = 0;

  /// Writes sample `index`, row-major. \throws Error (kData) naming the file.
  virtual void read(int64_t index, std::byte* to) const = 0;

  /// Where sample `index` lies in memory, row-major and aligned; nullptr where none does.
  [[nodiscard]] virtual const std::byte* at(int64_t index) const noexcept = 0;
};

/// Opens the file or the folder, told by what lies at the path. \throws Error (kData) naming the file and what is wrong.
[[nodiscard]] std::unique_ptr<NpySource> open_npy(const NpyDeclared& declared);

}  // namespace tenon::datasets
