// What a checkpoint and a run hold, for people and for programs, read from their files alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <core/json/json.hpp>
#include <core/storage/checkpoint_files.hpp>
#include <core/storage/elements.hpp>
#include <core/storage/safetensors.hpp>
#include <host/console.hpp>

namespace tenon::host {

/// One tensor of a file.
struct TensorFacts {
  std::string name;
  std::string type;  ///< "float32"
  Shape shape;
  uint64_t bytes = 0;
  core::ElementStatistics statistics;  ///< Only where they were asked for.
};

struct FileFacts {
  core::CheckedFile checked;
  std::vector<TensorFacts> tensors;  ///< By name; of a file of tensors that can be read.
  core::Metadata aliases;            ///< Names of tied tensors.
};

/// A checkpoint as far as it can be read.
struct CheckpointFacts {
  std::filesystem::path path;
  std::vector<FileFacts> files;
  core::Json state;                          ///< state.json; null where it cannot be read.
  std::map<std::string, double> metrics;     ///< What index.json says that validation found.
  core::Json pending = core::Json::array();  ///< What was due when it was written and, by index.json, still is.
  bool statistics = false;

  /// Names of damaged files with what is wrong; empty for a checkpoint that verifies.
  [[nodiscard]] std::vector<std::string> problems() const;
};

/// Reads and verifies a checkpoint. \throws Error (kCheckpoint) where its manifest.json cannot be understood.
[[nodiscard]] CheckpointFacts read_facts(const std::filesystem::path& checkpoint, bool statistics);

/// Position, metrics, provenance, tensors, state of components, files.
[[nodiscard]] std::string checkpoint_page(const CheckpointFacts& facts, const Console& console);

/// The first lines of it: position, files, tensors.
[[nodiscard]] std::string checkpoint_summary(const CheckpointFacts& facts, const Console& console);

[[nodiscard]] core::Json checkpoint_json(const CheckpointFacts& facts);

/// "512 B", "96.0 KiB", "1.5 GiB".
[[nodiscard]] std::string bytes_text(uint64_t bytes);

}  // namespace tenon::host
