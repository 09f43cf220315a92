// The ways to crash, and when.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include <tenon/params.hpp>

namespace crashing {

enum class Fault {
  kNull,
  kWild,
  kCall,
  kAbort,
  kHeap,
  kDivide,
  kIllegal,
  kShortened,
  kOverflow,
  kCopy,
  kTerminate,
  kNoexcept,
  kForeign,
  kCorrupt,
  kExit
};
TENON_ENUM(Fault, "null", "wild", "call", "abort", "heap", "divide", "illegal", "shortened", "overflow", "copy",
           "terminate", "noexcept", "foreign", "corrupt", "exit")

/// Where a component crashes: nowhere without a method.
struct TrapParams {
  std::string in;
  Fault fault = Fault::kNull;
  int64_t after = 0;
  int64_t sample = -1;

  TENON_PARAMS(TrapParams, tenon::field(&TrapParams::in, "in", "The method that crashes"),
               tenon::field(&TrapParams::fault, "fault", "How"),
               tenon::field(&TrapParams::after, "after", "How many calls of the method go well before").min(0),
               tenon::field(&TrapParams::sample, "sample", "On that sample alone").min(-1))
};

/// Springs once its time has come, unless TENON_TESTS_CRASHING is "off" in the environment.
class Trap {
 public:
  explicit Trap(TrapParams params) : params_(std::move(params)) {}
  void spring(std::string_view method, int64_t sample = -1) const;
  [[nodiscard]] bool lies_in(std::string_view method) const { return params_.in == method; }

 private:
  TrapParams params_;
  mutable std::atomic<int64_t> calls_{0};
};

}  // namespace crashing
