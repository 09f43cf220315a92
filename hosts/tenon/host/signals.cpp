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
  handlers_.emplace(kSignals, &tenon_note_signal);
}

RunSignals::~RunSignals() {
  handlers_.reset();
  asked = nullptr;
}

}  // namespace tenon::host
