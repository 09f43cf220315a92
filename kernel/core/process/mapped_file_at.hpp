// Which file a piece of memory is a mapping of.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tenon::core {

/// A place in a file that is mapped.
struct MappedPlace {
  std::string_view path;  ///< As the system tells it; " (deleted)" behind the name of a file that has none any more.
  int64_t offset = 0;     ///< In the file, bytes.
};

/// Room for the path.
inline constexpr std::size_t kMappedPathRoom = PATH_MAX + 64;

/// The place that an address is mapped to, its path copied to `memory`, which ends it with NUL; an empty path where the
/// address belongs to no file, or the system does not tell. Reads /proc/self/maps. Safe in a signal handler.
[[nodiscard]] MappedPlace mapped_file_at(uintptr_t address, std::span<char, kMappedPathRoom> memory) noexcept;

}  // namespace tenon::core
