// Two checkpoints byte by byte, and what differs inside.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tenon::core {

struct CheckpointDifference {
  std::string file;   ///< "optimizer.opt.safetensors"
  std::string entry;  ///< Name of a tensor, "__metadata__/KEY", or a JSON pointer; empty for the file itself.
  std::string what;   ///< "12 of 640 elements differ, first at [3, 0]: 0.25 and 0.5, by at most 0.25"
  double max_abs =
      0;  ///< Largest difference of two numbers; infinite where only one is finite, 0 where none are compared.
};

struct Comparison {
  std::vector<CheckpointDifference> differences;
  uint64_t bytes = 0;  ///< Of A's files that B has, too.
  uint64_t files = 0;  ///< That both have.

  [[nodiscard]] bool equal() const noexcept { return differences.empty(); }
};

/// Compares all files of two checkpoint folders, manifest.json too, and takes apart those that differ. First models,
/// then optimizers, other state, state.json, manifest.json; by name among them, and by entry within a file. Nothing is
/// verified, so that damaged checkpoints can be compared: a file that cannot be understood is a difference that says
/// so. A file whose content is equal although its bytes differ is one, too. \throws Error (kCheckpoint) for a folder
/// that is not there.
[[nodiscard]] Comparison compare_checkpoints(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace tenon::core
