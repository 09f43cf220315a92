// readdir tells what is a folder and what is a file; only links and file systems that do not tell cost a call each.
#include <index/folder_walk.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// An open folder.
class Folder {
 public:
  struct Identity {
    dev_t device;
    ino_t inode;
    friend bool operator==(const Identity&, const Identity&) = default;
  };

  Folder(std::string path, std::string pointer) : path_(std::move(path)), pointer_(std::move(pointer)) {
    stream_ = ::opendir(path_.c_str());
    if (stream_ == nullptr) fail();
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    if (stream_ != nullptr) ::closedir(stream_);
  }

  [[nodiscard]] Identity identity() const {
    struct stat status {};
    if (::fstat(::dirfd(stream_), &status) != 0) fail();
    return {status.st_dev, status.st_ino};
  }

  /// Calls visit(name, is_folder) for folders and files, in no order.
  template <class Visit>
  void each(Visit&& visit) {
    for (;;) {
      errno = 0;
      const dirent* const entry = ::readdir(stream_);
      if (entry == nullptr && errno != 0) fail();
      if (entry == nullptr) return;
      const std::string_view name = static_cast<const char*>(entry->d_name);
      if (name.starts_with('.')) continue;
      const unsigned char type = entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN ? target(entry) : entry->d_type;
      if (type == DT_DIR || type == DT_REG) visit(name, type == DT_DIR);
    }
  }

 private:
  /// A link that leads nowhere counts as a file, so that whoever reads it is told.
  [[nodiscard]] unsigned char target(const dirent* entry) const noexcept {
    struct stat status {};
    if (::fstatat(::dirfd(stream_), static_cast<const char*>(entry->d_name), &status, 0) != 0) return DT_REG;
    if (S_ISDIR(status.st_mode)) return DT_DIR;
    return S_ISREG(status.st_mode) ? DT_REG : DT_FIFO;
  }

  [[noreturn]] void fail() const {
    const std::string why =
        errno == ENOTDIR ? "is no folder" : "cannot be read: " + std::generic_category().message(errno);
    throw Error(ErrorCode::kData, path_ + ": " + why, pointer_);
  }

  std::string path_;
  std::string pointer_;
  DIR* stream_ = nullptr;
};

class Walker {
 public:
  Walker(const std::string& root, const Extensions& extensions, const std::string& pointer, Found& found)
      : root_(root), extensions_(extensions), pointer_(pointer), found_(found) {}

  void walk(const std::string& below) {
    const std::string path = below.empty() ? root_ : root_ + "/" + below;
    std::vector<std::string> folders;
    {
      Folder folder(path, pointer_);
      const Folder::Identity identity = folder.identity();
      if (std::find(above_.begin(), above_.end(), identity) != above_.end()) {
        throw Error(ErrorCode::kData, path + ": is a link that leads back to a folder above it: remove it", pointer_);
      }
      above_.push_back(identity);
      std::string name;
      folder.each([&](std::string_view entry, bool is_folder) {
        name.assign(below).append(below.empty() ? "" : "/").append(entry);
        if (is_folder) {
          folders.push_back(name);
        } else if (extensions_.match(entry)) {
          found_.files.add(name);
        } else if (++found_.others == 1 || name < found_.other) {
          found_.other = name;
        }
      });
    }
    for (const std::string& each : folders) walk(each);
    above_.pop_back();
  }

 private:
  const std::string& root_;
  const Extensions& extensions_;
  const std::string& pointer_;
  Found& found_;
  std::vector<Folder::Identity> above_;
};

}  // namespace

Listing list_folder(const std::filesystem::path& folder, const std::string& pointer) {
  Listing listing;
  Folder(folder.string(), pointer).each([&](std::string_view name, bool is_folder) {
    (is_folder ? listing.folders : listing.files).emplace_back(name);
  });
  std::sort(listing.folders.begin(), listing.folders.end());
  std::sort(listing.files.begin(), listing.files.end());
  return listing;
}

Extensions::Extensions(std::vector<std::string> extensions) : extensions_(std::move(extensions)) {
  for (std::size_t i = 0; i < extensions_.size(); ++i) {
    std::string& extension = extensions_[i];
    if (extension.size() < 2 || extension.front() != '.') {
      throw Error(ErrorCode::kConfig, "\"" + extension + "\" ends no file's name: write it with its point, as \".png\"",
                  "/extensions/" + std::to_string(i));
    }
    std::transform(extension.begin(), extension.end(), extension.begin(), lower);
  }
}

bool Extensions::match(std::string_view name) const noexcept {
  return std::any_of(extensions_.begin(), extensions_.end(), [&](const std::string& extension) {
    return name.size() > extension.size() &&
           std::equal(extension.begin(), extension.end(), name.end() - static_cast<std::ptrdiff_t>(extension.size()),
                      [](char wanted, char written) { return wanted == lower(written); });
  });
}

std::vector<std::string> usual_extensions() {
  return {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff", ".pbm", ".pgm", ".ppm", ".jp2"};
}

void walk_images(const std::filesystem::path& root, const std::string& below, const Extensions& extensions,
                 const std::string& pointer, Found& found) {
  const std::string base = root.string();
  const std::size_t first = found.files.size();
  Walker(base, extensions, pointer, found).walk(below);
  found.files.sort_from(first);
}

std::vector<std::string> remarks_of(const Found& found, const std::filesystem::path& root) {
  if (found.others == 0) return {};
  const bool one = found.others == 1;
  return {root.string() + ": " + std::to_string(found.others) + (one ? " file is no image" : " files are no images") +
          " by " + (one ? "its name and was" : "their names and were") + " left out" + (one ? ": \"" : ", such as \"") +
          found.other + "\""};
}

}  // namespace tenon::image_datasets
