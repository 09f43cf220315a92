// A flag that a signal handler may set.
#include <host/interruption.hpp>

#include <array>

namespace tenon::host {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t first_signal = 0;

extern "C" void note_signal(int number) {
  if (first_signal == 0) first_signal = number;
}

}  // namespace

Interruption::Interruption() {
  first_signal = 0;
  handlers_.emplace(kSignals, &note_signal);
}

int Interruption::signal() noexcept { return first_signal; }

}  // namespace tenon::host
