// One line on a terminal that is written again and again.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tenon::host {

/// How far something is, on standard error; nothing where that is no terminal. At its end the line is gone. One thread.
class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  /// "train   1200 of 1797 samples, 67 %, 3 s left"; `what` begins anew.
  void show(const std::string& what, int64_t done, int64_t total);

  void clear();

 private:
  bool live_;
  bool shown_ = false;
  std::string what_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point drawn_;
};

}  // namespace tenon::host
