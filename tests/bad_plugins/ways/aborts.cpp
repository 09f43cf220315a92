// Ends the process while it is being opened.
#include <cstdlib>

namespace {
[[gnu::constructor]] void start() { std::abort(); }
}  // namespace
