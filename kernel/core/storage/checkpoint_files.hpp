// A checkpoint's files one by one, also where some are damaged.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <core/storage/checkpoint.hpp>

namespace tenon::core {

/// A file that manifest.json lists, and whether it is as listed.
struct CheckedFile {
  CheckpointFile listed;
  std::string problem;  ///< Empty: size and SHA-256 agree.
};

/// Verifies every file of a checkpoint, by name; goes on where read_checkpoint() stops at the first that is damaged.
/// \throws Error (kCheckpoint) for a folder without a manifest.json that can be understood.
[[nodiscard]] std::vector<CheckedFile> check_files(const std::filesystem::path& folder);

}  // namespace tenon::core
