// What the transform of the bad plugins says of itself.
#pragma once

#include <csignal>
#include <string>
#include <vector>

namespace tenon::tests {

inline std::vector<std::string> crash() {
  (void)std::raise(SIGSEGV);
  return {};
}

}  // namespace tenon::tests

#ifndef BAD_TRAITS
#define BAD_TRAITS \
  { "deterministic" }
#endif
