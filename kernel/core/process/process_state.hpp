// What a process has once for all of its parts, and a library that is merely opened has to leave alone.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::core {

/// Taken before and after a library is opened. Of what is done with it, only that counts which surprises a host: other
/// numbers, other spelling of numbers, crashes and signals that are not told, files that go elsewhere.
class ProcessState {
 public:
  /// Of this process and thread, now.
  ProcessState();

  /// What differs `later`, each in words with the likely cause; empty where nothing does.
  [[nodiscard]] std::vector<std::string> changes(const ProcessState& later) const;

 private:
  static constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM, SIGHUP, SIGUSR1};

  uint64_t floating_point_ = 0;
  std::string locale_;
  std::array<uintptr_t, kSignals.size()> handlers_{};
  std::array<bool, kSignals.size()> blocked_{};
  std::string folder_;
  uint32_t mask_of_files_ = 0;
  bool has_timer_ = false;
};

}  // namespace tenon::core
