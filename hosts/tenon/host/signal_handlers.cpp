// Installing and giving back.
#include <host/signal_handlers.hpp>

namespace tenon::host {

SignalHandlers::SignalHandlers(std::span<const int> signals, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : signals) {
    struct sigaction former = {};
    sigaction(number, nullptr, &former);
    if (former.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
    former_.emplace_back(number, former);
  }
}

SignalHandlers::~SignalHandlers() {
  for (const auto& [number, former] : former_) sigaction(number, &former, nullptr);
}

}  // namespace tenon::host
