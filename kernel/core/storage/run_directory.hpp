// runs/<name>/<number>/: made once, owned by one live process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <core/json/json.hpp>
#include <core/storage/file.hpp>

namespace tenon::core {

/// \throws Error (kConfig) for a folder of runs whose name no file can have.
void require_possible_name(const std::filesystem::path& runs);

/// One run's folder, locked while the object lives. Movable.
class RunDirectory {
 public:
  /// Makes runs/NAME/NNNN with the next number that no other process has taken, and its sub-folders; 0001 comes first.
  /// \throws Error (kStorage).
  [[nodiscard]] static RunDirectory create(const std::filesystem::path& runs, const std::string& name);

  /// Opens one that is there. \throws Error: kStorage when another process has it open, kCheckpoint when it is no run.
  [[nodiscard]] static RunDirectory open(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] int64_t number() const noexcept { return number_; }
  [[nodiscard]] std::filesystem::path log() const { return path_ / "log.jsonl"; }
  [[nodiscard]] std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
  [[nodiscard]] std::filesystem::path exports() const { return path_ / "exports"; }

  /// Writes config.resolved.json, environment.json, lock.json: `name` with its extension, two blanks of indentation,
  /// members in their own order. Atomic. \throws Error (kStorage).
  void write_json(const std::string& name, const Json& content) const;

  /// Writes text under that name, atomically. \throws Error (kStorage).
  void write_text(const std::string& name, std::string_view text) const;

  /// Proves that checkpoints of about this size can be written. \throws Error (kStorage).
  void require_space(uint64_t checkpoint_bytes) const;

  /// Nobody has removed, moved or replaced the folder since it was made or opened: what is written into it stays.
  /// \throws Error (kStorage).
  void require_present() const;

  /// Likewise its files of these names, and checkpoints too. \throws Error (kStorage) that lists those that are gone.
  void require_files(std::span<const std::filesystem::path> files) const;

 private:
  RunDirectory(std::filesystem::path path, int64_t number, FileDescriptor lock);

  std::filesystem::path path_;
  int64_t number_ = 0;
  FileDescriptor lock_;
  FileDescriptor folder_;
};

struct RunPlace {
  std::string name;
  int64_t number = 0;
  std::filesystem::path path;
};

/// Runs of that name, by number; all names in order for an empty `name`. Empty for a folder that is not there.
[[nodiscard]] std::vector<RunPlace> list_runs(const std::filesystem::path& runs, std::string_view name = {});

/// Another process, or this one, has the run open.
[[nodiscard]] bool is_live(const std::filesystem::path& run);

}  // namespace tenon::core
