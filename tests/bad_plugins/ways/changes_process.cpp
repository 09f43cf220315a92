// Changes how numbers are rounded and who may read new files when it is opened.
#include <sys/stat.h>

#include <cfenv>

namespace {
[[gnu::constructor]] void start() {
  (void)std::fesetround(FE_UPWARD);
  (void)::umask(0);
}
}  // namespace
