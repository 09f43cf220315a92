// Clocks of POSIX, and /proc/self/smaps_rollup.
#include <clocks.hpp>

#include <chrono>
#include <ctime>
#include <fstream>
#include <string>

namespace tenon::bench {
namespace {

double read(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double processor_seconds() { return read(CLOCK_PROCESS_CPUTIME_ID); }

double thread_seconds() { return read(CLOCK_THREAD_CPUTIME_ID); }

void spin(double seconds) {
  for (const double end = thread_seconds() + seconds; thread_seconds() < end;) {
  }
}

double resident_megabytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  std::string word;
  while (file >> word) {
    double kilobytes = 0;
    if (word == "Pss:" && file >> kilobytes) return kilobytes / 1024;
  }
  return 0;
}

}  // namespace tenon::bench
