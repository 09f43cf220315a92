// Verification file by file.
#include <core/storage/checkpoint_files.hpp>

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <core/storage/canonical_json.hpp>
#include <core/storage/sha256.hpp>

namespace tenon::core {
namespace {

std::string problem_of(const CheckpointFile& file, const std::filesystem::path& folder) {
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(folder / file.name, error);
  if (error) return error.message();
  if (size != file.bytes) return fmt::format("it has {} bytes, the manifest says {}", size, file.bytes);
  try {
    return sha256_file(folder / file.name) == file.sha256 ? "" : "its content is not what the manifest says";
  } catch (const Error& failure) {
    return failure.what();
  }
}

}  // namespace

std::vector<CheckedFile> check_files(const std::filesystem::path& folder) {
  const Json manifest = read_json(folder / "manifest.json");
  std::vector<CheckedFile> files;
  try {
    for (const Json& entry : manifest.at("files")) {
      CheckedFile file;
      file.listed = {entry.at("name").get<std::string>(), entry.at("bytes").get<uint64_t>(),
                     entry.at("sha256").get<std::string>()};
      if (file.listed.name.find('/') != std::string::npos) {
        throw Error(
            ErrorCode::kCheckpoint,
            fmt::format("the checkpoint {} is damaged: manifest.json lists a file outside of it", folder.string()));
      }
      file.problem = problem_of(file.listed, folder);
      files.push_back(std::move(file));
    }
  } catch (const Json::exception&) {
    throw Error(ErrorCode::kCheckpoint,
                fmt::format("the checkpoint {} is damaged: manifest.json lists its files in a way that cannot be "
                            "understood",
                            folder.string()));
  }
  std::ranges::sort(files, {}, [](const CheckedFile& each) -> const std::string& { return each.listed.name; });
  return files;
}

}  // namespace tenon::core
