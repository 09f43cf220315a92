// dpkg's lists of files, and the naming rule of Debian's policy manual, 8.1.
#include <core/plugin/debian_packages.hpp>

#include <algorithm>
#include <cctype>
#include <system_error>

#include <fmt/format.h>

#include <core/storage/file.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLargestList = uint64_t{64} << 20;

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::vector<PackagedFile> packages_with(std::string_view file_name, const std::filesystem::path& database) {
  std::vector<PackagedFile> found;
  const std::string wanted = fmt::format("/{}\n", file_name);
  std::error_code error;
  fs::directory_iterator entries(database, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const fs::path& list = entries->path();
    if (list.extension() != ".list" || !list.filename().string().starts_with("lib")) continue;
    std::string text;
    try {
      text = read_text(list, ErrorCode::kPlugin, kLargestList);
    } catch (const Error&) {
      continue;
    }
    const std::size_t end = text.find(wanted);
    if (end == std::string::npos) continue;
    const std::size_t before = text.rfind('\n', end);
    const std::size_t start = before == std::string::npos ? 0 : before + 1;
    std::string package = list.stem().string();
    package.erase(std::min(package.find(':'), package.size()));
    found.push_back({std::move(package), text.substr(start, end + wanted.size() - 1 - start)});
  }
  std::ranges::sort(found, {}, &PackagedFile::package);
  return found;
}

std::string package_name(std::string_view soname) {
  const std::size_t so = soname.find(".so");
  if (!soname.starts_with("lib") || so == std::string_view::npos || so <= std::string_view("lib").size()) return {};
  std::string name(soname.substr(0, so));
  std::string_view version = soname.substr(so + std::string_view(".so").size());
  if (version.starts_with('.')) {
    version.remove_prefix(1);
    if (is_digit(name.back())) name += '-';
    name += version;
  }
  for (char& c : name) c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace tenon::core
