// A file of an image, read and decoded into a sample; errors name it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include <decode/decoder.hpp>
#include <tenon/error.hpp>
#include <tenon/sample.hpp>

namespace tenon::image_datasets {

/// All bytes of a file, in memory of the thread until its next call. By read() and not by a mapping: to map and unmap
/// files stops all threads of a process for a moment. \throws Error (kData) without the file's name. [any thread]
[[nodiscard]] std::span<const std::byte> file_bytes(const std::string& path);

/// The path of a file by its name within a folder.
[[nodiscard]] inline std::string path_of(const std::filesystem::path& folder, std::string_view name) {
  std::string path = folder.string();
  if (!path.ends_with('/')) path += '/';
  return path.append(name);
}

/// Calls use(); an Error gets the file's name in front.
template <class Use>
auto naming(const std::string& path, Use&& use) {
  try {
    return std::forward<Use>(use)();
  } catch (const Error& error) {
    throw Error(error.code(), path + ": " + error.what(), error.pointer());
  }
}

/// Calls use(bytes) with the bytes of a file; an Error gets the file's name in front.
template <class Use>
auto with_file(const std::string& path, Use&& use) {
  return naming(path, [&] { return use(file_bytes(path)); });
}

/// Memory for a field of a sample.
[[nodiscard]] inline Allocate allocate_in(Sample& sample, int field) {
  return [&sample, field](Dtype dtype, std::span<const int64_t> shape) {
    return sample.allocate(field, dtype, shape).data;
  };
}

/// Decodes the image of a file into a field: whole, or the region that `choose` gives where it is not null.
inline void read_image(const std::string& path, const DecodeOptions& options, const Choose* choose, Sample& sample,
                       int field) {
  with_file(path, [&](std::span<const std::byte> bytes) {
    if (choose == nullptr) {
      decode(bytes, options, allocate_in(sample, field));
    } else {
      decode_part(bytes, options, *choose, allocate_in(sample, field));
    }
  });
}

}  // namespace tenon::image_datasets
