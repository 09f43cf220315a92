// Copies of files that are complete or not there at all.
#pragma once

#include <cstdint>
#include <filesystem>

#include <core/storage/file.hpp>

namespace tenon::core {

/// Writes the bytes from `begin` to `end` of an opened file to `to`, atomically and piece by piece. `path` names the
/// source in messages. \throws Error (kStorage).
void copy_range(const OpenedFile& from, const std::filesystem::path& path, uint64_t begin, uint64_t end,
                const std::filesystem::path& to);

/// A whole file likewise.
void copy_whole(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace tenon::core
