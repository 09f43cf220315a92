// Which of two metric values is better.
#include <tenon/ports.hpp>

#include <cmath>

namespace tenon {

bool better(double candidate, double best, Direction direction) noexcept {
  if (!std::isfinite(candidate)) return false;
  if (!std::isfinite(best)) return true;
  return direction == Direction::kMax ? candidate > best : candidate < best;
}

}  // namespace tenon
