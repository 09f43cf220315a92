// Prints half a line when it is opened, and the like of a result when the process ends.
#include <cstdio>
#include <cstdlib>

namespace {

void say_more() {
  (void)std::puts(R"({"case": "load.open", "verdict": "failed"})");
  std::abort();
}

[[gnu::constructor]] void start() {
  (void)std::fputs("opened; ", stdout);
  (void)std::fflush(stdout);
  (void)std::atexit(&say_more);
}

}  // namespace
