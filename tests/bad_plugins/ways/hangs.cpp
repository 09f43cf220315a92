// Never comes to an end while it is being opened.
#include <unistd.h>

namespace {
[[gnu::constructor]] void start() {
  while (true) (void)::pause();
}
}  // namespace
