// The soft limit, which every process may raise up to the hard one.
#include <host/open_files.hpp>

#include <sys/resource.h>
#include <algorithm>

namespace tenon::host {

void raise_open_files() noexcept {
  constexpr rlim_t kEnough = 4096;
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kEnough) return;
  limit.rlim_cur = std::min(limit.rlim_max, kEnough);
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));  // where it fails, whoever needs more files says so
}

}  // namespace tenon::host
