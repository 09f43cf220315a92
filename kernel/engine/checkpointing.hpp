// Checkpoints of a run: what goes in, when the best changes, what may go.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <core/storage/checkpoint_index.hpp>
#include <core/storage/run_directory.hpp>
#include <engine/components.hpp>
#include <engine/restore.hpp>
#include <engine/training.hpp>

namespace tenon::engine {

/// Names of files of a checkpoint, without extension: where restoring looks for what writing put there.
[[nodiscard]] std::string state_file(const core::Node& node);
[[nodiscard]] std::string stop_file(std::size_t entry);
inline constexpr const char* kTrainingFile = "training";

/// Writes and forgets checkpoints of one run. [trainer]
class Checkpointing {
 public:
  /// Components, directory and training outlive it. `provenance` is what equal bytes depend on besides the pipeline:
  /// device, threads, instruction set, data.
  Checkpointing(const Components& components, const core::RunDirectory& directory, Training& training,
                core::Json provenance);

  /// Takes the index up where a checkpoint left it; messages for people go to `notes`.
  void go_on_from(const core::Checkpoint& checkpoint, const Standing& standing, std::vector<std::string>& notes);

  /// Bytes that one checkpoint is going to take.
  [[nodiscard]] uint64_t estimated_bytes() const;

  /// Writes the state of everything behind the present step, unless that step has been written already; an interim one
  /// gives way to one that is due. Returns the folder. \throws Error (kStorage).
  std::filesystem::path write(const Standing& standing);

  /// The folder of the newest checkpoint; empty where there is none.
  [[nodiscard]] std::filesystem::path last_path() const;

  /// It is the best too; what validation found there.
  [[nodiscard]] bool last_is_best() const noexcept;
  [[nodiscard]] std::map<std::string, double> last_metrics() const;

  /// Notes what validation found at the present step and lets go what is not to be kept. True when this checkpoint
  /// became the best.
  bool validated(const std::map<std::string, double>& metrics);

  /// The checkpoint that test and export use: the best where one is configured and known, else the last.
  struct Chosen {
    std::filesystem::path path;
    bool best = false;
    std::map<std::string, double> metrics;
  };
  [[nodiscard]] Chosen chosen() const;

 private:
  void retain();

  const Components& components_;
  const core::RunDirectory& directory_;
  std::filesystem::path folder_;
  Training& training_;
  core::Json provenance_;
  std::optional<core::Json> class_names_;  ///< Of the datasets, which stay open: asked for with the first checkpoint.
  core::CheckpointIndex index_;
  core::RetentionRule rule_;
};

}  // namespace tenon::engine
