// Line by line with read(2): a process may have tens of thousands of mappings.
#include <core/process/mapped_file_at.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace tenon::core {
namespace {

/// The number at the front, in hexadecimal digits, and the character behind it, both taken away.
uint64_t take_hex(std::string_view& line) noexcept {
  uint64_t value = 0;
  while (!line.empty()) {
    const char c = line.front();
    line.remove_prefix(1);
    if (c >= '0' && c <= '9') {
      value = value * 16 + static_cast<uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value = value * 16 + static_cast<uint64_t>(c - 'a' + 10);
    } else {
      break;
    }
  }
  return value;
}

/// Takes a word and the blanks behind it away.
void skip_word(std::string_view& line) noexcept {
  line.remove_prefix(std::min(line.find(' '), line.size()));
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
}

/// "begin-end rwxp offset device inode path". True for the line of the address.
bool look_at(std::string_view line, uintptr_t address, std::span<char, kMappedPathRoom> memory,
             MappedPlace& place) noexcept {
  const uint64_t begin = take_hex(line);
  const uint64_t end = take_hex(line);
  if (address < begin || address >= end) return false;
  skip_word(line);  // rwxp
  place.offset = static_cast<int64_t>(take_hex(line) + (address - begin));
  skip_word(line);  // device
  skip_word(line);  // inode
  if (!line.starts_with('/')) return true;
  const std::size_t size = std::min(line.size(), memory.size() - 1);
  std::copy_n(line.begin(), size, memory.begin());
  memory[size] = '\0';
  place.path = {memory.data(), size};
  return true;
}

}  // namespace

MappedPlace mapped_file_at(uintptr_t address, std::span<char, kMappedPathRoom> memory) noexcept {
  MappedPlace place;
  const int file = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return place;
  static std::array<char, 2 * kMappedPathRoom> lines;  // a handler's stack is small, and one crash is handled at a time
  std::size_t used = 0;
  bool found = false;
  while (!found) {
    const ssize_t count = ::read(file, lines.data() + used, lines.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    used += static_cast<std::size_t>(count);
    std::string_view rest(lines.data(), used);
    for (std::size_t end = rest.find('\n'); end != std::string_view::npos && !found; end = rest.find('\n')) {
      found = look_at(rest.substr(0, end), address, memory, place);
      rest.remove_prefix(end + 1);
    }
    if (rest.size() == lines.size()) break;  // no line is that long
    std::copy(rest.begin(), rest.end(), lines.begin());
    used = rest.size();
  }
  ::close(file);
  return place;
}

}  // namespace tenon::core
