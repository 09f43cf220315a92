// Checkpoint directories: immutable, canonical, complete or not there at all.
//
//   checkpoints/step-000500/ manifest.json  model.net.safetensors  optimizer.opt.safetensors  state.json
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <core/json/json.hpp>
#include <core/storage/atomic_file.hpp>
#include <core/storage/safetensors.hpp>

namespace tenon::core {

/// "step-000500"
[[nodiscard]] std::string step_name(int64_t step);

/// The step of such a name, or nothing.
[[nodiscard]] std::optional<int64_t> step_of(std::string_view name) noexcept;

/// One file of a checkpoint as its manifest lists it.
struct CheckpointFile {
  std::string name;
  uint64_t bytes = 0;
  std::string sha256;
};

/// Writes one checkpoint. Files go into a hidden folder beside the final one; commit() writes manifest.json, makes all
/// durable and renames once. Without commit nothing stays. Same content, same bytes: no time, no path, sorted names.
/// All functions throw Error (kStorage). One thread at a time. [writer]
class CheckpointWriter {
 public:
  /// `checkpoints` is made if missing.
  CheckpointWriter(std::filesystem::path checkpoints, int64_t step);

  /// Adds "NAME.safetensors", written before the call returns. A name is letters, digits, "_", "-", ".".
  void add_tensors(const std::string& name, std::span<const NamedArray> tensors, const Metadata& metadata = {});

  /// Adds "NAME.json", canonical text.
  void add_json(const std::string& name, const Json& content);

  /// Returns the final folder. A complete checkpoint of the same content that is there already is left as it is; one of
  /// other content is an error, unless it may be replaced.
  std::filesystem::path commit(bool may_replace = false);

 private:
  void add(const std::string& file, const std::function<void(ByteSink&)>& write);
  [[nodiscard]] std::string manifest() const;

  std::filesystem::path checkpoints_;
  int64_t step_ = 0;
  HiddenFolder hidden_;
  std::vector<CheckpointFile> files_;
};

/// A checkpoint whose files were all found to be as its manifest says.
class Checkpoint {
 public:
  [[nodiscard]] int64_t step() const noexcept { return step_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// By name, manifest.json left out.
  [[nodiscard]] std::span<const CheckpointFile> files() const noexcept { return files_; }
  [[nodiscard]] bool has(std::string_view file) const noexcept;

  /// Content of "NAME.safetensors" or "NAME.json". \throws Error (kCheckpoint) naming a file that is not there, with
  /// those that are.
  [[nodiscard]] Safetensors tensors(const std::string& name) const;
  [[nodiscard]] Json json(const std::string& name) const;

 private:
  friend Checkpoint read_checkpoint(const std::filesystem::path& folder);

  [[nodiscard]] std::filesystem::path file(const std::string& name) const;

  std::filesystem::path path_;
  int64_t step_ = 0;
  std::vector<CheckpointFile> files_;
};

/// Verifies size and hash of every file. \throws Error (kCheckpoint) naming the file that is damaged or missing and
/// how.
[[nodiscard]] Checkpoint read_checkpoint(const std::filesystem::path& folder);

/// Renames a damaged checkpoint to "step-000200.damaged" (".damaged-2", …), where nothing takes it for a checkpoint, and
/// gives that name. \throws Error (kStorage).
std::filesystem::path set_aside(const std::filesystem::path& folder);

struct CheckpointPlace {
  int64_t step = 0;
  std::filesystem::path path;
};

/// Checkpoints under their final names, by step; content is not read. Empty for a folder that is not there.
[[nodiscard]] std::vector<CheckpointPlace> list_checkpoints(const std::filesystem::path& checkpoints);

/// The newest checkpoint that verifies, or nothing; `damaged` receives one message for each newer one that does not.
[[nodiscard]] std::optional<Checkpoint> newest_checkpoint(const std::filesystem::path& checkpoints,
                                                          std::vector<std::string>& damaged);

}  // namespace tenon::core
