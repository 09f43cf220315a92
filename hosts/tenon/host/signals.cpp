// Handlers that do next to nothing.
#include <host/signals.hpp>

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>

namespace tenon::host {
namespace {

constexpr std::array kSignals{SIGTERM, SIGINT, SIGUSR1, SIGHUP};

// A handler has no other way to its object.
std::atomic<engine::Interruption*> asked{nullptr};
std::array<struct sigaction, kSignals.size()> former{};

extern "C" void tenon_note_signal(int number) {
  engine::Interruption* const interruption = asked.load();
  if (interruption == nullptr || interruption->request(number)) return;
  ::signal(number, SIG_DFL);
  sigset_t just_this;
  sigemptyset(&just_this);
  sigaddset(&just_this, number);
  sigprocmask(SIG_UNBLOCK, &just_this, nullptr);
  ::kill(::getpid(), number);
}

}  // namespace

RunSignals::RunSignals() {
  asked = &interruption_;
  struct sigaction action = {};
  action.sa_handler = &tenon_note_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &former[i]);
    if (former[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

RunSignals::~RunSignals() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &former[i], nullptr);
  asked = nullptr;
}

}  // namespace tenon::host
