// The engine's one exported function, and what it gives.
#include <engine/artefact.hpp>
#include <engine/components.hpp>
#include <engine/device.hpp>
#include <engine/engine.hpp>
#include <engine/evaluation.hpp>
#include <engine/session.hpp>

namespace tenon::engine {
namespace {

/// Lets nothing but Error through.
template <class Body>
decltype(auto) guarded(Body&& body) {
  try {
    return body();
  } catch (const Error&) {
    throw;
  } catch (...) {
    throw current_error(ErrorCode::kPlugin);
  }
}

class TheEngine final : public Engine {
 public:
  RunOutcome run(const RunRequest& request) override {
    return guarded([&] { return run_session(request); });
  }
  std::map<std::string, double> evaluate(const EvaluateRequest& request) override {
    return guarded([&] { return evaluate_checkpoint(request); });
  }
  void run_artefact(const ArtefactRequest& request) override {
    guarded([&] { engine::run_artefact(request); });
  }
  DeviceReport devices() override {
    return guarded([] { return report_devices(); });
  }
};

}  // namespace
}  // namespace tenon::engine

extern "C" tenon::engine::Engine* tenon_engine_1() noexcept {
  static tenon::engine::TheEngine engine;
  return &engine;
}
