// Files by mmap.
#include <files/mapped_file.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <files/descriptor.hpp>
#include <files/unreadable.hpp>
#include <tenon/error.hpp>

namespace tenon::datasets {

MappedFile::MappedFile(const std::filesystem::path& path, const std::string& pointer) {
  const auto fail = [&](const std::string& why) { throw Error(ErrorCode::kData, path.string() + ": " + why, pointer); };
  const auto fail_with_errno = [&] { throw unreadable(path.string(), errno, pointer); };
  // Without O_NONBLOCK a pipe would wait for somebody to write.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number < 0) fail_with_errno();
  struct stat status {};
  if (::fstat(file.number, &status) != 0) fail_with_errno();
  if (S_ISDIR(status.st_mode)) fail("is a folder, but a file is wanted");
  if (!S_ISREG(status.st_mode)) fail("is no regular file");
  if (status.st_size == 0) return;
  void* const memory =
      ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file.number, 0);
  if (memory == MAP_FAILED) fail_with_errno();
  data_ = static_cast<const std::byte*>(memory);
  size_ = static_cast<std::size_t>(status.st_size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void require_mappable(std::size_t files, const std::string& of, const std::string& instead,
                      const std::string& pointer) {
  if (files <= kMostMappedFiles) return;
  throw Error(ErrorCode::kData,
              of + ": " + std::to_string(files) + " files are to be read, and " + std::to_string(kMostMappedFiles) +
                  " can be open at once: " + instead,
              pointer);
}

void MappedFile::forget(std::size_t offset, std::size_t size) const noexcept {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t begin = (offset + page - 1) / page * page;
  const std::size_t end = std::min(offset + size, size_) / page * page;
  if (begin < end) ::madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace tenon::datasets
