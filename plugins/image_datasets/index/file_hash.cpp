// Sizes are asked for in blocks of files, so that the hash does not depend on how many threads there are.
#include <index/file_hash.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <files/content_hash.hpp>
#include <files/descriptor.hpp>
#include <files/share_out.hpp>
#include <files/unreadable.hpp>

namespace tenon::image_datasets {
namespace {

constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();

using datasets::Descriptor;

/// Whether it lies with the file itself that it cannot be looked at, so that every machine finds the same at any time.
bool is_of_file(int number) noexcept {
  constexpr std::array kOfFile{ENOENT, ENOTDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG, EINVAL, ENXIO};
  return std::find(kOfFile.begin(), kOfFile.end(), number) != kOfFile.end();
}

/// Looks at the files of one folder.
class Looks {
 public:
  /// A folder that is not there has no file that could be looked at.
  explicit Looks(const std::filesystem::path& folder)
      : folder_(folder), opened_(::open(folder.empty() ? "." : folder.c_str(), O_PATH | O_CLOEXEC)) {
    const int number = errno;
    if (opened_.number < 0 && !is_of_file(number)) throw datasets::unreadable(folder.string(), number);
  }

  [[nodiscard]] uint64_t size_of(const std::string& name) const {
    struct stat status {};
    return ::fstatat(opened_.number, name.c_str(), &status, 0) == 0 ? static_cast<uint64_t>(status.st_size)
                                                                    : unknown(name);
  }

  [[nodiscard]] uint64_t middle_of(const std::string& name) const {
    constexpr std::size_t kPiece = 4096;
    const Descriptor file(::openat(opened_.number, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (file.number < 0 || ::fstat(file.number, &status) != 0) return unknown(name);
    if (!S_ISREG(status.st_mode)) return kUnknown;
    std::array<std::byte, kPiece> piece{};
    const off_t begin = std::max<off_t>(0, (status.st_size - static_cast<off_t>(kPiece)) / 2);
    std::size_t done = 0;
    while (done < kPiece) {
      const ssize_t count = ::pread(file.number, piece.data() + done, kPiece - done, begin + static_cast<off_t>(done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return unknown(name);
      if (count == 0) break;
      done += static_cast<std::size_t>(count);
    }
    return datasets::content_hash(std::span(piece).first(done));
  }

 private:
  /// By errno. Else a fingerprint would change with what the machine has free.
  [[nodiscard]] uint64_t unknown(const std::string& name) const {
    const int number = errno;
    const bool no_folder = opened_.number < 0 && number == EBADF;
    if (!no_folder && !is_of_file(number)) throw datasets::unreadable((folder_ / name).string(), number);
    return kUnknown;
  }

  const std::filesystem::path& folder_;
  Descriptor opened_;
};

}  // namespace

uint64_t hash_of_files(const std::filesystem::path& folder, std::size_t count,
                       const std::function<std::string_view(std::size_t)>& name) {
  constexpr std::size_t kBlock = 4096;
  constexpr std::size_t kPieces = 64;
  const Looks looks(folder);
  const std::size_t blocks = (count + kBlock - 1) / kBlock;
  const std::size_t pieces = std::min(count, kPieces);
  std::vector<uint64_t> hashes(blocks + pieces);
  datasets::share_out(hashes.size(), [&](std::size_t i) {
    std::string text;
    if (i >= blocks) {
      text = name((i - blocks) * count / pieces);
      hashes[i] = looks.middle_of(text);
      return;
    }
    std::vector<uint64_t> sizes;
    for (std::size_t file = i * kBlock; file < std::min(count, (i + 1) * kBlock); ++file) {
      text = name(file);
      sizes.push_back(looks.size_of(text));
    }
    hashes[i] = datasets::content_hash(std::as_bytes(std::span(sizes)));
  });
  return datasets::content_hash(std::as_bytes(std::span(hashes)), count);
}

}  // namespace tenon::image_datasets
