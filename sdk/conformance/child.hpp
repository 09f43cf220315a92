// One case in a process of its own.
#pragma once

#include <chrono>
#include <string>

#include <conformance/case.hpp>

namespace tenon::conformance {

struct Outcome {
  std::string verdict;  ///< "passed", "failed", "warned" or "skipped".
  std::string reason;   ///< Why it was skipped.
  double seconds = 0;
  Json findings = Json::array();  ///< Objects: severity, message, cure, params.
  bool ended_early = false;       ///< The process crashed or was ended.
};

/// To be called first of all in main(). Where `tenon plugins check` started this program, which is told by the number of
/// its process in TENON_PARENT, the system kills this one from then on when that is gone, be it killed.
void end_with_parent() noexcept;

/// Forks, lets the child run the case, and waits for it no longer than `limit`. This process must have one thread.
[[nodiscard]] Outcome run_case(const Case& test, const Subject& subject, std::chrono::milliseconds limit);

}  // namespace tenon::conformance
