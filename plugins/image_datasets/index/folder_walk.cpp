// readdir tells what is a folder and what is a file; only links and file systems that do not tell cost a call each.
#include <index/folder_walk.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include <files/unreadable.hpp>
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

  /// Calls visit(name, type) for folders (DT_DIR), files (DT_REG) and whatever else lies there (DT_FIFO), in no order.
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
      visit(name, type == DT_DIR || type == DT_REG ? type : static_cast<unsigned char>(DT_FIFO));
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
    if (errno == ENOTDIR) throw Error(ErrorCode::kData, path_ + ": is no folder", pointer_);
    throw datasets::unreadable(path_, errno, pointer_);
  }

  std::string path_;
  std::string pointer_;
  DIR* stream_ = nullptr;
};

class Walker {
 public:
  Walker(const std::string& root, const Extensions& extensions, const std::string& pointer, Found& found)
      : root_(root), extensions_(extensions), pointer_(pointer), found_(found) {}

  /// The folder lies below others, to which a link may lead back.
  void is_within(const std::string& folder) { above_.push_back(Folder(folder, pointer_).identity()); }

  void walk(const std::string& below) {
    const std::string path = below.empty() ? root_ : root_ + "/" + below;
    std::vector<std::string> folders;
    {
      Folder folder(path, pointer_);
      const Folder::Identity identity = folder.identity();
      if (std::find(above_.begin(), above_.end(), identity) != above_.end()) {
        return found_.loops.add(below);  // what lies there has been found, or will be
      }
      above_.push_back(identity);
      std::string name;
      folder.each([&](std::string_view entry, unsigned char type) {
        name.assign(below).append(below.empty() ? "" : "/").append(entry);
        if (type == DT_DIR) {
          folders.push_back(name);
          if (extensions_.match(entry)) found_.folders.add(name);
        } else if (type != DT_REG) {
          found_.specials.add(name);
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
  Folder(folder.string(), pointer).each([&](std::string_view name, unsigned char type) {
    (type == DT_DIR ? listing.folders : type == DT_REG ? listing.files : listing.specials).emplace_back(name);
  });
  for (std::vector<std::string>* const list : {&listing.folders, &listing.files, &listing.specials}) {
    std::sort(list->begin(), list->end());
  }
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
  Walker walker(base, extensions, pointer, found);
  if (!below.empty()) walker.is_within(base);
  walker.walk(below);
  found.files.sort_from(first);
}

std::vector<std::string> remarks_of(const Found& found, const std::filesystem::path& root) {
  std::vector<std::string> all;
  const auto remark = [&](int64_t count, const std::string& such_as, const char* one, const char* several) {
    if (count == 0) return;
    all.push_back(root.string() + ": " + std::to_string(count) + (count == 1 ? one : several) +
                  (count == 1 ? ": \"" : ", such as \"") + such_as + "\"");
  };
  remark(found.others, found.other, " file is no image by its name and was left out",
         " files are no images by their names and were left out");
  remark(found.specials.count, found.specials.one, " entry is a pipe, a socket or a device and was left out",
         " entries are pipes, sockets or devices and were left out");
  remark(found.loops.count, found.loops.one, " link leads back to a folder above it and was not followed",
         " links lead back to a folder above them and were not followed");
  remark(found.folders.count, found.folders.one, " folder is called as an image is: the images in it count",
         " folders are called as images are: the images in them count");
  return all;
}

}  // namespace tenon::image_datasets
