// An object at namespace scope whose constructor throws.
#include <stdexcept>

namespace {

struct Thrower {
  Thrower() { throw std::runtime_error("thrown at namespace scope"); }
};
const Thrower thrower;

}  // namespace
