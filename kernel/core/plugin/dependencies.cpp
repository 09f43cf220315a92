// The search of ld.so (glibc, elf/dl-load.c) replayed: DT_RPATH, LD_LIBRARY_PATH, DT_RUNPATH, ld.so.cache, default
// folders; what is open already is taken by name.
#include <core/plugin/dependencies.hpp>

#include <link.h>
#include <sys/stat.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <span>
#include <system_error>

#include <fmt/format.h>

#include <core/plugin/refusal.hpp>
#include <core/storage/file.hpp>

namespace tenon::core {
namespace {

namespace fs = std::filesystem;

#if defined(__x86_64__)
constexpr uint32_t kCacheFlags = 0x0303;  // FLAG_X8664_LIB64 | FLAG_ELF_LIBC6
constexpr std::string_view kPlatform = "x86_64";
constexpr std::string_view kMultiarch = "lib/x86_64-linux-gnu";
#else
constexpr uint32_t kCacheFlags = 0x0a03;  // FLAG_AARCH64_LIB64 | FLAG_ELF_LIBC6
constexpr std::string_view kPlatform = "aarch64";
constexpr std::string_view kMultiarch = "lib/aarch64-linux-gnu";
#endif

std::vector<fs::path> default_folders() {
  const fs::path multiarch(kMultiarch);
  return {fs::path("/") / multiarch, fs::path("/usr") / multiarch, "/lib64", "/usr/lib64", "/lib", "/usr/lib"};
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

std::string expanded(std::string text, std::string_view origin) {
  for (const auto& [name, value] : std::array<std::pair<std::string_view, std::string_view>, 3>{
           {{"ORIGIN", origin}, {"LIB", kMultiarch}, {"PLATFORM", kPlatform}}}) {
    replace_all(text, fmt::format("${{{}}}", name), value);
    replace_all(text, fmt::format("${}", name), value);
  }
  return text;
}

std::vector<std::string> split(std::string_view list, std::string_view separators) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = list.find_first_of(separators);
    parts.emplace_back(list.substr(0, end));
    if (end == std::string_view::npos) return parts;
    list.remove_prefix(end + 1);
  }
}

fs::path real(const fs::path& file) {
  std::error_code error;
  fs::path path = fs::canonical(file, error);
  return error ? file : path;
}

/// The process's libraries in the order of its link map; the program itself first.
std::vector<fs::path> mapped_libraries() {
  std::vector<fs::path> files;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* list) {
        static_cast<std::vector<fs::path>*>(list)->emplace_back(info->dlpi_name == nullptr ? "" : info->dlpi_name);
        return 0;
      },
      &files);
  if (!files.empty()) files.front() = real("/proc/self/exe");
  std::erase_if(files, [](const fs::path& file) { return !file.is_absolute(); });  // the kernel's own, without a file
  return files;
}

}  // namespace

std::map<std::string, std::filesystem::path, std::less<>> parse_loader_cache(std::string_view bytes) {
  constexpr std::string_view kOldMagic = "ld.so-1.7.0";
  constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
  constexpr std::size_t kHeader = 48;
  struct Entry {
    uint32_t flags, key, value, os_version;
    uint64_t hardware;
  };
  static_assert(sizeof(Entry) == 24);
  std::map<std::string, fs::path, std::less<>> files;
  if (bytes.starts_with(kOldMagic)) {  // the present format lies behind the old one, at a multiple of 8
    const std::size_t start = bytes.find(kMagic);
    if (start == std::string_view::npos) return files;
    bytes.remove_prefix(start);
  }
  if (!bytes.starts_with(kMagic) || bytes.size() < kHeader) return files;
  uint32_t count = 0;
  std::memcpy(&count, bytes.data() + kMagic.size(), sizeof count);
  const auto text = [&](uint32_t at) -> std::string {
    if (at >= bytes.size()) return {};
    const std::string_view rest = bytes.substr(at);
    return std::string(rest.substr(0, rest.find('\0')));
  };
  for (uint64_t i = 0; i < count && kHeader + (i + 1) * sizeof(Entry) <= bytes.size(); ++i) {
    Entry entry{};
    std::memcpy(&entry, bytes.data() + kHeader + i * sizeof(Entry), sizeof entry);
    // Variants for special processors hold the same symbols as the plain library.
    if (entry.flags == kCacheFlags && entry.hardware == 0) files.try_emplace(text(entry.key), text(entry.value));
  }
  return files;
}

/// One library's question for another: itself, and through whom it came, for RPATH and for messages.
struct LibraryMap::Request {
  const DynamicImage* library = nullptr;
  const Request* parent = nullptr;

  [[nodiscard]] std::vector<fs::path> chain() const {
    std::vector<fs::path> files;
    for (const Request* each = this; each != nullptr; each = each->parent) files.push_back(each->library->path());
    std::ranges::reverse(files);
    return files;
  }
};

struct LibraryMap::Answer {
  const DynamicImage* library = nullptr;
  std::vector<std::string> looked;
  std::string damage;
  std::optional<fs::path> found;

  [[nodiscard]] bool ended() const noexcept { return library != nullptr || !damage.empty(); }
};

LibraryMap::LibraryMap() : system_folders_(default_folders()) {
  if (const char* const path = std::getenv("LD_LIBRARY_PATH")) library_path_ = path;
  try {
    cache_ = parse_loader_cache(read_text("/etc/ld.so.cache", ErrorCode::kPlugin, uint64_t{64} << 20));
  } catch (const Error&) {
    cache_.clear();  // a system without ldconfig: the default folders remain
  }
  const std::vector<fs::path> files = mapped_libraries();
  for (const fs::path& file : files) {
    try {
      const DynamicImage& library = image_of(file);
      add_open(library, {file.filename().string(), library.soname()});
    } catch (const Refusal&) {
      continue;  // replaced or removed since it was mapped
    }
  }
  if (files.empty()) return;
  program_ = files.front();
  const Closure started = walk(program_);
  if (!started.libraries.empty()) program_rpath_ = started.libraries.front()->rpath();
  global_ = started.libraries;
}

LibraryMap::LibraryMap(std::vector<std::filesystem::path> system_folders)
    : system_folders_(std::move(system_folders)) {}

const DynamicImage& LibraryMap::image_of(const std::filesystem::path& file) {
  if (const auto found = by_path_.find(file); found != by_path_.end()) return *found->second;
  struct stat status = {};
  const bool known = ::stat(file.c_str(), &status) == 0;
  const std::pair<uint64_t, uint64_t> key{status.st_dev, status.st_ino};
  if (const auto found = by_file_.find(key); known && found != by_file_.end()) {
    return *by_path_.emplace(file, found->second).first->second;
  }
  const DynamicImage& library = images_.emplace_back(file);
  if (known) by_file_.emplace(key, &library);
  by_path_.emplace(file, &library);
  return library;
}

void LibraryMap::add_open(const DynamicImage& library, const std::vector<std::string>& names) {
  opened_.emplace(&library, true);
  for (const std::string& name : names) {
    if (!name.empty()) by_name_.try_emplace(name, &library);
  }
}

LibraryMap::Answer LibraryMap::try_file(const std::filesystem::path& file, Answer answer) {
  std::error_code error;
  if (!fs::exists(file, error)) return answer;
  try {
    answer.library = &image_of(file);
  } catch (const Refusal& refusal) {
    answer.found = file;
    if (refusal.reason() == "architecture") {
      answer.looked.back() += fmt::format(" (has it, but {})", refusal.what());  // the loader goes on
    } else {
      answer.damage = refusal.what();
    }
  }
  return answer;
}

LibraryMap::Answer LibraryMap::look_in(const std::string& list, std::string_view origin_of, std::string_view what,
                                       const std::string& name, Answer answer) {
  if (list.empty()) return answer;
  const std::string origin = fs::path(origin_of).parent_path().string();
  for (const std::string& each : split(expanded(list, origin), what == "LD_LIBRARY_PATH" ? ":;" : ":")) {
    const fs::path folder = each.empty() ? fs::path(".") : fs::path(each);
    answer.looked.push_back(fmt::format("{} {}", what, folder.lexically_normal().string()));
    answer = try_file(folder / name, std::move(answer));
    if (answer.ended()) break;
  }
  return answer;
}

LibraryMap::Answer LibraryMap::find(const std::string& name, const Request& asking) {
  Answer answer;
  if (const auto open = by_name_.find(name); open != by_name_.end()) {
    answer.library = open->second;
    return answer;
  }
  if (name.find('/') != std::string::npos) {
    const std::string file = expanded(name, asking.library->path().parent_path().string());
    answer.looked.push_back(file);
    return try_file(file, std::move(answer));
  }
  if (asking.library->runpath().empty()) {
    bool program_asked = false;
    for (const Request* each = &asking; each != nullptr && !answer.ended(); each = each->parent) {
      program_asked = program_asked || each->library->path() == program_;
      answer = look_in(each->library->rpath(), each->library->path().string(), "RPATH", name, std::move(answer));
    }
    if (!answer.ended() && !program_asked) {
      answer = look_in(program_rpath_, program_.string(), "RPATH", name, std::move(answer));
    }
  }
  if (!answer.ended()) answer = look_in(library_path_, program_.string(), "LD_LIBRARY_PATH", name, std::move(answer));
  if (!answer.ended()) {
    answer = look_in(asking.library->runpath(), asking.library->path().string(), "RUNPATH", name, std::move(answer));
  }
  if (answer.ended()) return answer;
  if (!cache_.empty()) {
    answer.looked.emplace_back("ld.so.cache");
    if (const auto cached = cache_.find(name); cached != cache_.end()) {
      answer = try_file(cached->second, std::move(answer));
      if (answer.ended()) return answer;
    }
  }
  for (const fs::path& folder : system_folders_) {
    answer.looked.push_back(folder.string());
    answer = try_file(folder / name, std::move(answer));
    if (answer.ended()) return answer;
  }
  return answer;
}

LibraryMap::Closure LibraryMap::walk(const std::filesystem::path& library) {
  Closure closure;
  std::deque<Request> requests;  // its elements stay where they are
  std::map<std::string, const DynamicImage*, std::less<>> names;
  const auto add = [&](const DynamicImage& image, const Request* parent) {
    if (std::ranges::find(closure.libraries, &image) != closure.libraries.end()) return;
    closure.libraries.push_back(&image);
    requests.push_back({&image, parent});
    if (!image.soname().empty()) names.try_emplace(image.soname(), &image);
  };
  add(image_of(library), nullptr);
  std::size_t next = 0;
  while (next < requests.size()) {
    const Request& asking = requests[next++];
    for (const std::string& name : asking.library->needed()) {
      if (const auto known = names.find(name); known != names.end()) {
        if (known->second != nullptr) add(*known->second, &asking);
        continue;
      }
      Answer answer = find(name, asking);
      names.try_emplace(name, answer.library);
      if (answer.library != nullptr) {
        add(*answer.library, &asking);
      } else {
        closure.missing.push_back(
            {name, asking.chain(), std::move(answer.looked), std::move(answer.damage), std::move(answer.found)});
      }
    }
  }
  return closure;
}

std::vector<MissingLibrary> LibraryMap::open(const std::filesystem::path& library) {
  Closure all = walk(library);
  for (const DynamicImage* const each : all.libraries) {
    add_open(*each, {each->path().filename().string(), each->soname()});
  }
  return std::move(all.missing);
}

LibraryMap::Closure LibraryMap::closure(const std::filesystem::path& library) { return walk(library); }

}  // namespace tenon::core
