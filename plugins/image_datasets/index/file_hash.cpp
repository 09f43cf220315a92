// Sizes are asked for in blocks of files, so that the hash does not depend on how many threads there are.
#include <index/file_hash.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <files/content_hash.hpp>
#include <files/descriptor.hpp>
#include <index/share_out.hpp>

namespace tenon::image_datasets {
namespace {

constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();

using datasets::Descriptor;

uint64_t size_of_file(int folder, const std::string& name) noexcept {
  struct stat status {};
  return ::fstatat(folder, name.c_str(), &status, 0) == 0 ? static_cast<uint64_t>(status.st_size) : kUnknown;
}

uint64_t middle_of_file(int folder, const std::string& name) noexcept {
  constexpr std::size_t kPiece = 4096;
  const Descriptor file(::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file.number < 0 || ::fstat(file.number, &status) != 0 || !S_ISREG(status.st_mode)) return kUnknown;
  std::array<std::byte, kPiece> piece{};
  const off_t begin = std::max<off_t>(0, (status.st_size - static_cast<off_t>(kPiece)) / 2);
  std::size_t done = 0;
  for (ssize_t count = 1; count > 0 && done < kPiece; done += static_cast<std::size_t>(std::max<ssize_t>(count, 0))) {
    count = ::pread(file.number, piece.data() + done, kPiece - done, begin + static_cast<off_t>(done));
  }
  return datasets::content_hash(std::span(piece).first(done));
}

}  // namespace

uint64_t hash_of_files(const std::filesystem::path& folder, std::size_t count,
                       const std::function<std::string_view(std::size_t)>& name) {
  constexpr std::size_t kBlock = 4096;
  constexpr std::size_t kPieces = 64;
  const Descriptor opened(::open(folder.empty() ? "." : folder.c_str(), O_PATH | O_CLOEXEC));
  const std::size_t blocks = (count + kBlock - 1) / kBlock;
  const std::size_t pieces = std::min(count, kPieces);
  std::vector<uint64_t> hashes(blocks + pieces);
  share_out(hashes.size(), [&](std::size_t i) {
    std::string text;
    if (i >= blocks) {
      text = name((i - blocks) * count / pieces);
      hashes[i] = middle_of_file(opened.number, text);
      return;
    }
    std::vector<uint64_t> sizes;
    for (std::size_t file = i * kBlock; file < std::min(count, (i + 1) * kBlock); ++file) {
      text = name(file);
      sizes.push_back(size_of_file(opened.number, text));
    }
    hashes[i] = datasets::content_hash(std::as_bytes(std::span(sizes)));
  });
  return datasets::content_hash(std::as_bytes(std::span(hashes)), count);
}

}  // namespace tenon::image_datasets
