// Lists of items, from a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tenon::datasets {

/// The numbers of a file: .npy with one axis of int32 or int64, or else text with one number a line, where empty lines
/// and what is behind a "#" do not count. \throws Error (kData) naming file and line, with `pointer`.
[[nodiscard]] std::vector<int64_t> read_indices(const std::filesystem::path& path, const std::string& pointer);

}  // namespace tenon::datasets
