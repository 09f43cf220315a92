// A flag that a signal handler may set.
#include <host/interruption.hpp>

namespace tenon::host {
namespace {

volatile std::sig_atomic_t first_signal = 0;

extern "C" void note_signal(int number) {
  if (first_signal == 0) first_signal = number;
}

}  // namespace

Interruption::Interruption() {
  first_signal = 0;
  struct sigaction action = {};
  action.sa_handler = &note_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &former_[i]);
    if (former_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

Interruption::~Interruption() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &former_[i], nullptr);
}

int Interruption::signal() noexcept { return first_signal; }

}  // namespace tenon::host
