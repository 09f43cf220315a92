// What this process takes of the system.
#pragma once

#include <unistd.h>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace tenon::test {

/// Threads of this process. One that was joined may be listed for a moment longer, but is marked as ending by then:
/// such are not counted, or a number taken at the start of a test would hold a thread of the test before it.
inline int threads_of_process() {
  constexpr unsigned exiting = 0x4;  // PF_EXITING of linux/sched.h, in the flags of proc(5), field 9
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "stat");
    std::string line;
    if (!std::getline(file, line)) continue;  // gone since it was listed
    std::istringstream fields(line.substr(line.rfind(')') + 1));
    std::string skipped;
    for (int field = 3; field < 9; ++field) fields >> skipped;
    unsigned flags = 0;
    fields >> flags;
    if ((flags & exiting) == 0) ++count;
  }
  return count;
}

/// Bytes of this process that lie in memory.
inline int64_t resident() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0;
  int64_t pages = 0;
  statm >> total >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

/// Files, pipes and the like that this process holds open; the one that lists them is among them.
inline int descriptors() {
  return static_cast<int>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

}  // namespace tenon::test
