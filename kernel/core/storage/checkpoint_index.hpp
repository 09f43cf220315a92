// checkpoints/index.json: which checkpoint is last, which is best, what validation found; and which may go.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <core/json/json.hpp>
#include <tenon/ports.hpp>

namespace tenon::core {

/// One checkpoint that was written, whether it is still on disk or not.
struct CheckpointRecord {
  int64_t step = 0;
  int64_t epoch = 0;
  std::map<std::string, double> metrics;  ///< By log key, "validate.acc"; may hold non-finite values.
  double wall_time = 0;                   ///< Seconds since the epoch of Unix.
  bool pending_validation = false;        ///< Written before the validation that is due.
  bool kept = true;                       ///< Its folder has not been removed.
  /// Written only because the run was interrupted: as the newest it is kept, and for no other reason, so that a run
  /// keeps what it would keep without interruptions.
  bool interim = false;
};

/// What `checkpoint.keep` says. The newest is always kept, for resuming.
struct RetentionRule {
  int64_t last = 1;    ///< The newest this many.
  int64_t best = 0;    ///< And the best this many.
  std::string metric;  ///< Log key that `best` is about.
  Direction direction = Direction::kMax;
};

/// The content of index.json.
struct CheckpointIndex {
  std::optional<int64_t> last;
  std::optional<int64_t> best;
  std::vector<CheckpointRecord> history;  ///< By step.

  /// Adds a checkpoint, in place of an older record of that step; it becomes `last`.
  void add(CheckpointRecord record);

  /// Stores what validation found at a step and chooses `best` anew. Without a record of that step nothing happens.
  /// Returns true when that step became the best.
  bool validated(int64_t step, const std::map<std::string, double>& metrics, const RetentionRule& rule);

  /// Makes the index as it was when the checkpoint of `step` had been written: records of later steps are dropped,
  /// `last` is that step (with a record of its own, kept, even where there was none), what validation found there is
  /// forgotten when it is to be done again, and `best` is chosen anew from the checkpoints that are still kept.
  void rewind(int64_t step, bool pending_validation, const RetentionRule& rule);

  /// Fills in what validation found at steps whose records do not tell, from the lines of a log: for an index that was made
  /// anew. \throws Error (kStorage).
  void take_metrics_from(const std::filesystem::path& log);

  /// The record of that step, or nullptr.
  [[nodiscard]] const CheckpointRecord* find(int64_t step) const noexcept;

  /// \throws Error (kCheckpoint) for a file that is not such an index; a missing file is an empty index.
  [[nodiscard]] static CheckpointIndex load(const std::filesystem::path& checkpoints);

  /// Like load(), brought in line with the folders that are there, and with a damaged or missing index.json made anew
  /// from them, without metrics. A kill between a folder and its record, or a folder taken away by hand, is mended
  /// silently; `messages` receives a sentence where index.json itself could not be used, or the best is gone. Writes
  /// nothing.
  /// \throws Error (kCheckpoint) for a folder that cannot be listed.
  [[nodiscard]] static CheckpointIndex load_or_rebuild(const std::filesystem::path& checkpoints,
                                                       std::vector<std::string>& messages);

  /// Replaces index.json atomically. \throws Error (kStorage).
  void save(const std::filesystem::path& checkpoints) const;
};

/// The steps of the best `count` kept records, best first. Ties keep the earlier; non-finite, missing and interim never
/// count.
[[nodiscard]] std::vector<int64_t> best_steps(std::span<const CheckpointRecord> history, const std::string& metric,
                                              Direction direction, int64_t count);

/// Steps whose folders may go: kept now, and neither the newest, nor among the newest `rule.last` or the best
/// `rule.best` that are not interim. Pure.
[[nodiscard]] std::vector<int64_t> superfluous(std::span<const CheckpointRecord> history, const RetentionRule& rule);

/// Removes the folders of superfluous checkpoints and says so in `index`, which is saved before the first folder goes:
/// a kill in between leaves folders too many, never too few. \throws Error (kStorage).
void apply_retention(const std::filesystem::path& checkpoints, CheckpointIndex& index, const RetentionRule& rule);

}  // namespace tenon::core
