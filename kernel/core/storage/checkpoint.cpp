// Checkpoint directories: hidden while being written, one rename, verified when read.
#include <core/storage/checkpoint.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <core/storage/atomic_file.hpp>
#include <core/storage/canonical_json.hpp>
#include <core/storage/file.hpp>
#include <core/storage/sha256.hpp>

namespace tenon::core {
namespace {

constexpr const char* kManifest = "manifest.json";
constexpr int64_t kFormat = 1;
constexpr std::string_view kStepPrefix = "step-";

/// Writes into a file and hashes what it writes.
class HashingFile final : public ByteSink {
 public:
  explicit HashingFile(std::filesystem::path path)
      : path_(std::move(path)), file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
    if (!file_) throw storage_error("write", path_, errno);
  }

  void write(std::span<const std::byte> bytes) override {
    write_all(file_, bytes, path_);
    hash_.update(bytes);
    size_ += bytes.size();
  }

  CheckpointFile finish() {
    if (::fsync(file_.get()) != 0) throw storage_error("write", path_, errno);
    if (const int error = file_.close(); error != 0) throw storage_error("write", path_, error);
    return {path_.filename().string(), size_, hash_.digest()};
  }

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
  Sha256 hash_;
  uint64_t size_ = 0;
};

const std::filesystem::path& made(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw storage_error("make the folder", folder, error.value());
  return folder;
}

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

Error damaged(const std::filesystem::path& folder, const std::string& what) {
  return Error(ErrorCode::kCheckpoint, fmt::format("the checkpoint {} is damaged: {}", folder.string(), what));
}

CheckpointFile file_of(const Json& entry, const std::filesystem::path& folder) {
  const auto member = [&](const char* name) -> const Json& {
    const auto found = entry.is_object() ? entry.find(name) : entry.end();
    if (found == entry.end()) throw damaged(folder, fmt::format("manifest.json lists a file without \"{}\"", name));
    return *found;
  };
  const Json& name = member("name");
  const Json& bytes = member("bytes");
  const Json& hash = member("sha256");
  if (!name.is_string() || !bytes.is_number_unsigned() || !hash.is_string() ||
      !is_plain_name(name.get<std::string>())) {
    throw damaged(folder, "manifest.json lists a file in a way that cannot be understood");
  }
  return {name.get<std::string>(), bytes.get<uint64_t>(), hash.get<std::string>()};
}

void verify(const CheckpointFile& file, const std::filesystem::path& folder) {
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(folder / file.name, error);
  if (error) throw damaged(folder, fmt::format("{}: {}", file.name, error.message()));
  if (size != file.bytes) {
    throw damaged(folder, fmt::format("{} has {} bytes, its manifest says {}", file.name, size, file.bytes));
  }
  if (sha256_file(folder / file.name) != file.sha256) {
    throw damaged(folder,
                  fmt::format("{} does not have the content that its manifest says (SHA-256 differs)", file.name));
  }
}

bool holds(const std::filesystem::path& folder, const std::string& manifest) {
  try {
    return read_text(folder / kManifest, ErrorCode::kCheckpoint) == manifest;
  } catch (const Error&) {
    return false;
  }
}

bool is_sound(const std::filesystem::path& folder) {
  try {
    return !read_checkpoint(folder).path().empty();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string step_name(int64_t step) { return fmt::format("{}{:06}", kStepPrefix, step); }

std::optional<int64_t> step_of(std::string_view name) noexcept {
  if (!name.starts_with(kStepPrefix)) return {};
  const std::string_view digits = name.substr(kStepPrefix.size());
  if (digits.size() < 6 || !std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; })) return {};
  int64_t step = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (error != std::errc() || end != digits.data() + digits.size()) return {};
  return step;
}

CheckpointWriter::CheckpointWriter(std::filesystem::path checkpoints, int64_t step)
    : checkpoints_(std::move(checkpoints)), step_(step), hidden_(made(checkpoints_) / step_name(step)) {}

void CheckpointWriter::add(const std::string& file, const std::function<void(ByteSink&)>& write) {
  if (!is_plain_name(file) || file == kManifest) {
    throw Error(ErrorCode::kStorage, fmt::format("cannot write a checkpoint file of the name \"{}\"", file));
  }
  HashingFile out(hidden_.path() / file);
  write(out);
  files_.push_back(out.finish());
}

void CheckpointWriter::add_tensors(const std::string& name, std::span<const NamedArray> tensors,
                                   const Metadata& metadata) {
  add(name + ".safetensors", [&](ByteSink& sink) { write_safetensors(tensors, metadata, sink); });
}

void CheckpointWriter::add_json(const std::string& name, const Json& content) {
  add(name + ".json", [&](ByteSink& sink) { sink.write(bytes_of(canonical_text(content))); });
}

std::string CheckpointWriter::manifest() const {
  std::vector<CheckpointFile> sorted = files_;
  std::ranges::sort(sorted, {}, &CheckpointFile::name);
  Json files = Json::array();
  for (const CheckpointFile& file : sorted) {
    files.push_back({{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  }
  return canonical_text({{"format", kFormat}, {"step", step_}, {"files", std::move(files)}});
}

std::filesystem::path CheckpointWriter::commit(bool may_replace) {
  std::filesystem::path final_path = checkpoints_ / step_name(step_);
  const std::string text = manifest();
  HashingFile out(hidden_.path() / kManifest);
  out.write(bytes_of(text));
  (void)out.finish();
  sync_folder(hidden_.path());
  if (std::rename(hidden_.path().c_str(), final_path.c_str()) != 0) {
    if (errno != ENOTEMPTY && errno != EEXIST) throw storage_error("write", final_path, errno);
    const bool sound = is_sound(final_path);
    if (sound && holds(final_path, text)) return final_path;
    if (sound && !may_replace) {
      throw Error(
          ErrorCode::kStorage,
          fmt::format("{} is there already with other content: remove it, or start a new run", final_path.string()));
    }
    // Swaps the two names in one step, so that there is no moment without a checkpoint of this name.
    if (::renameat2(AT_FDCWD, hidden_.path().c_str(), AT_FDCWD, final_path.c_str(), RENAME_EXCHANGE) != 0) {
      throw storage_error("replace the checkpoint", final_path, errno);
    }
    std::error_code ignored;
    std::filesystem::remove_all(hidden_.path(), ignored);
  }
  hidden_.release();
  sync_folder(checkpoints_);
  return final_path;
}

bool Checkpoint::has(std::string_view file) const noexcept {
  return std::ranges::find(files_, file, &CheckpointFile::name) != files_.end();
}

std::filesystem::path Checkpoint::file(const std::string& name) const {
  if (!has(name)) {
    std::vector<std::string_view> names;
    for (const CheckpointFile& each : files_) {
      names.push_back(each.name);
    }
    throw Error(ErrorCode::kCheckpoint,
                fmt::format("the checkpoint {} has no {}; it has {}", path_.string(), name, fmt::join(names, ", ")));
  }
  return path_ / name;
}

Safetensors Checkpoint::tensors(const std::string& name) const {
  return Safetensors::read(file(name + ".safetensors"));
}

Json Checkpoint::json(const std::string& name) const { return read_json(file(name + ".json")); }

Checkpoint read_checkpoint(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    throw Error(ErrorCode::kCheckpoint, fmt::format("there is no checkpoint {}", folder.string()));
  }
  const Json manifest = read_json(folder / kManifest);
  const auto number = [&](const char* name) {
    const auto found = manifest.is_object() ? manifest.find(name) : manifest.end();
    if (found == manifest.end() || !found->is_number_integer()) {
      throw damaged(folder, fmt::format("manifest.json has no number \"{}\"", name));
    }
    return found->get<int64_t>();
  };
  if (const int64_t format = number("format"); format != kFormat) {
    throw Error(ErrorCode::kCheckpoint,
                fmt::format("the checkpoint {} has format {}, this Tenon reads format {}: use the Tenon that wrote it",
                            folder.string(), format, kFormat));
  }
  Checkpoint checkpoint;
  checkpoint.path_ = folder;
  checkpoint.step_ = number("step");
  if (const auto named = step_of(folder.filename().string()); named && *named != checkpoint.step_) {
    throw damaged(folder, fmt::format("its manifest is that of step {}", checkpoint.step_));
  }
  const auto files = manifest.find("files");
  if (files == manifest.end() || !files->is_array()) throw damaged(folder, "manifest.json lists no files");
  for (const Json& entry : *files) {
    checkpoint.files_.push_back(file_of(entry, folder));
    verify(checkpoint.files_.back(), folder);
  }
  return checkpoint;
}

std::filesystem::path set_aside(const std::filesystem::path& folder) {
  for (int number = 1;; ++number) {
    std::filesystem::path aside = folder;
    aside += number == 1 ? std::string(".damaged") : fmt::format(".damaged-{}", number);
    std::error_code error;
    if (std::filesystem::exists(std::filesystem::symlink_status(aside, error))) continue;
    std::filesystem::rename(folder, aside, error);
    if (error) throw storage_error("rename the damaged checkpoint", folder, error.value());
    return aside;
  }
}

std::vector<CheckpointPlace> list_checkpoints(const std::filesystem::path& checkpoints) {
  std::vector<CheckpointPlace> places;
  std::error_code error;
  std::filesystem::directory_iterator entries(checkpoints, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    const std::optional<int64_t> step = step_of(entries->path().filename().string());
    std::error_code ignored;
    if (step && entries->is_directory(ignored)) places.push_back({*step, entries->path()});
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw Error(ErrorCode::kCheckpoint, fmt::format("cannot list {}: {}", checkpoints.string(), error.message()));
  }
  std::ranges::sort(places, {}, &CheckpointPlace::step);
  return places;
}

std::optional<Checkpoint> newest_checkpoint(const std::filesystem::path& checkpoints,
                                            std::vector<std::string>& damaged) {
  std::vector<CheckpointPlace> places = list_checkpoints(checkpoints);
  std::ranges::reverse(places);
  for (const CheckpointPlace& place : places) {
    try {
      return read_checkpoint(place.path);
    } catch (const Error& error) {
      damaged.emplace_back(error.what());
    }
  }
  return {};
}

}  // namespace tenon::core
