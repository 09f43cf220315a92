// An observer that fails at every event.
#include <stdexcept>

#include <tenon/components/observer.hpp>
#include <tenon/registration.hpp>

namespace {

class ThrowingObserver final : public tenon::Observer {
 public:
  explicit ThrowingObserver(const tenon::NoParams& /*params*/) {}

  void on(const tenon::Event& /*event*/) override { throw std::runtime_error("the tracker is out of reach"); }
};

}  // namespace

TENON_COMPONENT(ThrowingObserver, tenon::NoParams, "throwing", "Throws at every event")
