// Reading files, and explaining why that fails.
#include <core/resolve/file.hpp>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNeighbours = 2000;  // Names in a folder that are compared with a missing one.

struct Closer {
  void operator()(std::FILE* file) const noexcept { static_cast<void>(std::fclose(file)); }
};

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder.empty() ? fs::path(".") : folder, error);
  for (; !error && entry != fs::directory_iterator() && names.size() < kMostNeighbours; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  return names;
}

/// "did you mean "pipes/digits.json"?" or where the path breaks off.
std::string fix_for_missing(const fs::path& path) {
  const fs::path folder = path.parent_path();
  std::error_code error;
  if (!folder.empty() && !fs::exists(folder, error)) return fmt::format("there is no folder {}", folder.string());
  const std::optional<std::string> found = nearest(path.filename().string(), names_in(folder));
  return found ? fmt::format("did you mean {}?", core::quoted((folder / *found).string(), 200)) : std::string();
}

Diagnostic failure(const Span& at, std::string code, std::string message, std::string label) {
  return {.code = std::move(code), .message = std::move(message), .span = at, .label = std::move(label)};
}

}  // namespace

SourcePtr read_source(const fs::path& path, const Span& at, Diagnostics& diagnostics) {
  const std::string name = path.string();
  const auto unreadable = [&](std::string_view reason, std::string label = {}) -> SourcePtr {
    diagnostics.add(failure(at, "unreadable-file", fmt::format("cannot read {}: {}", name, reason), std::move(label)));
    return nullptr;
  };
  if (name.empty() || name.find('\0') != std::string::npos) return unreadable("that is no file name");

  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    diagnostics.add(failure(at, "missing-file", fmt::format("{} does not exist", name), fix_for_missing(path)));
    return nullptr;
  }
  if (error) return unreadable(error.message());
  if (fs::is_directory(status)) return unreadable("it is a folder", "name the pipeline file in it");
  if (!fs::is_regular_file(status)) return unreadable("it is no regular file");

  const std::unique_ptr<std::FILE, Closer> file(std::fopen(path.c_str(), "rb"));
  if (!file) return unreadable(std::generic_category().message(errno));
  std::string text;
  std::vector<char> block(64 << 10);
  while (const std::size_t count = std::fread(block.data(), 1, block.size(), file.get())) {
    text.append(block.data(), count);
    if (text.size() > kMaxPipelineBytes) {
      return unreadable(fmt::format("it has more than {} MiB", kMaxPipelineBytes >> 20), "is this the pipeline file?");
    }
  }
  if (std::ferror(file.get()) != 0) return unreadable(std::generic_category().message(errno));
  return std::make_shared<const Source>(name, std::move(text));
}

}  // namespace tenon::core
