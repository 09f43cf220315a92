// Recordings in memory, or in files that are mapped: steps of several fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <files/mapped_file.hpp>
#include <files/npy_array.hpp>
#include <windows/params.hpp>

namespace tenon::datasets {

/// Steps of each field of each recording, row-major and one behind the other.
class Recordings {
 public:
  /// `steps`: what one step of each field is. A folder or a table, told by what lies at the path.
  /// \throws Error (kData) naming file, place and fix.
  void open(const WindowsParams& params, const std::vector<NpySample>& steps);

  [[nodiscard]] std::size_t size() const noexcept { return lengths_.size(); }
  [[nodiscard]] int64_t length(std::size_t recording) const noexcept { return lengths_[recording]; }

  /// The first step of a field.
  [[nodiscard]] const std::byte* at(std::size_t field, std::size_t recording) const noexcept {
    return data_[field][recording];
  }

  /// A hash of all numbers, and of where recordings begin; reads them.
  [[nodiscard]] uint64_t hash() const;

 private:
  void open_folder(const WindowsParams& params);
  void open_table(const WindowsParams& params);
  void add_file(std::size_t field, const std::filesystem::path& path, const std::string& pointer);

  std::vector<NpySample> steps_;
  std::vector<std::string> names_;
  std::vector<int64_t> lengths_;
  std::vector<std::vector<const std::byte*>> data_;  // by field and recording
  std::map<std::filesystem::path, MappedFile> files_;
  std::deque<std::vector<std::byte>> own_;  // what does not lie in files as it should
};

}  // namespace tenon::datasets
