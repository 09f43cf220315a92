// Copies through a buffer of fixed size.
#include <core/resume/copy.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <core/storage/atomic_file.hpp>

namespace tenon::core {

void copy_range(const OpenedFile& from, const std::filesystem::path& path, uint64_t begin, uint64_t end,
                const std::filesystem::path& to) {
  AtomicFile file(to);
  std::vector<std::byte> buffer(std::size_t{1} << 20U);
  for (uint64_t offset = begin; offset < end; offset += buffer.size()) {
    const auto piece =
        std::span(buffer).first(static_cast<std::size_t>(std::min<uint64_t>(buffer.size(), end - offset)));
    read_at(from.file, offset, piece, path, ErrorCode::kStorage);
    file.write(piece);
  }
  file.commit();
}

void copy_whole(const std::filesystem::path& from, const std::filesystem::path& to) {
  const OpenedFile opened = open_for_reading(from, ErrorCode::kStorage);
  copy_range(opened, from, 0, opened.size, to);
}

}  // namespace tenon::core
