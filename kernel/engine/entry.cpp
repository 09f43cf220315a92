// The engine's one exported function, and what it gives.
#include <engine/artefact.hpp>
#include <engine/components.hpp>
#include <engine/data_check.hpp>
#include <engine/data_show.hpp>
#include <engine/device.hpp>
#include <engine/engine.hpp>
#include <engine/evaluation.hpp>
#include <engine/exporting.hpp>
#include <engine/planning.hpp>
#include <engine/predicting.hpp>
#include <engine/probing.hpp>
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

class GuardedPredictor final : public OpenedPredictor {
 public:
  explicit GuardedPredictor(std::unique_ptr<OpenedPredictor> predictor) : predictor_(std::move(predictor)) {}

  int64_t predict(PredictionSink& sink) override {
    return guarded([&] { return predictor_->predict(sink); });
  }

 private:
  std::unique_ptr<OpenedPredictor> predictor_;
};

class TheEngine final : public Engine {
 public:
  RunOutcome run(const RunRequest& request) override {
    return guarded([&] {
      const SettingsInForce settings(request.graph.run);
      return run_session(request);
    });
  }
  std::map<std::string, double> evaluate(const EvaluateRequest& request) override {
    return guarded([&] { return evaluate_checkpoint(request); });
  }
  int64_t predict(const PredictRequest& request, PredictionSink& sink) override {
    return guarded([&] { return predict_rows(request, sink); });
  }
  std::unique_ptr<OpenedPredictor> open_predictor(PredictRequest request) override {
    return guarded([&] { return std::make_unique<GuardedPredictor>(engine::open_predictor(std::move(request))); });
  }
  std::vector<ExportOutcome> export_checkpoint(const ExportRequest& request) override {
    return guarded([&] { return export_from_checkpoint(request); });
  }
  PlanReport plan(const PlanRequest& request) override {
    return guarded([&] { return plan_report(request); });
  }
  ScheduleCurve schedule_curve(const ScheduleCurveRequest& request) override {
    return guarded([&] { return plan_schedule(request); });
  }
  std::vector<ProbedOutput> probe(const ProbeRequest& request) override {
    return guarded([&] { return probe_modules(request); });
  }
  DataReport check_data(const DataCheckRequest& request) override {
    return guarded([&] { return engine::check_data(request); });
  }
  DataShown show_data(const DataShowRequest& request) override {
    return guarded([&] { return engine::show_data(request); });
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
