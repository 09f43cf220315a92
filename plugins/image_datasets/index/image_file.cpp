// Reading files whole.
#include <index/image_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <decode/pixels.hpp>
#include <files/descriptor.hpp>
#include <files/unreadable.hpp>

namespace tenon::image_datasets {
namespace {

[[noreturn]] void fail(const std::string& why) { throw Error(ErrorCode::kData, why); }

[[noreturn]] void fail_with_errno() { throw datasets::unreadable({}, errno); }

}  // namespace

std::span<const std::byte> file_bytes(const std::string& path) {
  thread_local Scratch memory;
  memory.settle();
  // Without O_NONBLOCK a pipe would wait for somebody to write.
  const datasets::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number < 0) fail_with_errno();
  struct stat status {};
  if (::fstat(file.number, &status) != 0) fail_with_errno();
  if (S_ISDIR(status.st_mode)) fail("is a folder, but a file is wanted");
  if (!S_ISREG(status.st_mode)) fail("is no regular file");
  const auto size = static_cast<std::size_t>(status.st_size);
  std::byte* const bytes = memory.take(size);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = ::read(file.number, bytes + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_with_errno();
    if (count == 0) fail("became shorter while it was read");
    done += static_cast<std::size_t>(count);
  }
  return {bytes, size};
}

}  // namespace tenon::image_datasets
