// Leaves a process behind that holds on to all that was open.
#include <unistd.h>

namespace {
[[gnu::constructor]] void start() {
  if (::fork() != 0) return;
  (void)::sleep(100);
  ::_exit(0);
}
}  // namespace
