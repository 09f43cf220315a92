// A file as memory, read-only.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace tenon::datasets {

/// Maps a whole regular file for as long as the object lives. Its bytes are read from disk when they are touched, by as
/// many threads as like to. Who shortens the file meanwhile ends the process.
class MappedFile {
 public:
  /// \throws Error (kData, or as unreadable() says) that names the file, with the pointer of the parameter that holds its path.
  MappedFile(const std::filesystem::path& path, const std::string& pointer);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  /// Takes a range out of this process's memory; its bytes come from the file again when they are touched.
  void forget(std::size_t offset, std::size_t size) const noexcept;

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  [[nodiscard]] std::string_view text() const noexcept { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Files that one dataset may map at once: a process has room for some 65,000 mappings (vm.max_map_count), and other
/// datasets and libraries take of them too.
inline constexpr std::size_t kMostMappedFiles = 30'000;

/// \throws Error (kData) when there are more files than may be mapped at once. `of`: the list or folder that names them,
/// `instead`: what to do.
void require_mappable(std::size_t files, const std::string& of, const std::string& instead, const std::string& pointer);

}  // namespace tenon::datasets
