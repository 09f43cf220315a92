// A metric, an observer and an exporter that work until their trap springs.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/jit/api/module.h>

#include <tenon/components/exporter.hpp>
#include <tenon/components/metric.hpp>
#include <tenon/components/observer.hpp>
#include <tenon/registration.hpp>
#include <torchscript/metadata.hpp>
#include <torchscript/runnable.hpp>
#include <torchscript/trace.hpp>
#include <trap.hpp>

namespace crashing {
namespace {

struct WatchingParams {
  TrapParams trap;
  TENON_PARAMS(WatchingParams, tenon::field(&WatchingParams::trap, "trap", "Where it crashes"))
};

class CrashingMetric final : public tenon::Metric {
 public:
  explicit CrashingMetric(const WatchingParams& params) : trap_(params.trap) {}

  static tenon::Ports ports() {
    return {.in = {tenon::Port::of("logits", {tenon::Dtype::kFloat32}, {"N", "C"}),
                   tenon::Port::of("target", {tenon::Dtype::kInt64}, {"N"})},
            .out = {}};
  }
  static std::vector<tenon::MetricOutput> outputs() { return {{"samples", tenon::Direction::kMax}}; }

  void reset() override { samples_ = 0; }
  void update(const tenon::Tensors& in) override {
    trap_.spring("update");
    samples_ += static_cast<double>(in.at("target").size(0));
  }
  [[nodiscard]] std::vector<double> compute(tenon::Collectives& /*ranks*/) override {
    trap_.spring("compute");
    return {samples_};
  }

 private:
  Trap trap_;
  double samples_ = 0;
};

class CrashingObserver final : public tenon::Observer, public tenon::Controller {
 public:
  explicit CrashingObserver(const WatchingParams& params) : trap_(params.trap) {}
  ~CrashingObserver() override { trap_.spring("destroy"); }

  static std::vector<std::string> abilities() { return {kAbility}; }
  void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<tenon::Controller*>(this) : nullptr;
  }

  void on(const tenon::Event& /*event*/) override { trap_.spring("on"); }
  void at_step(const tenon::Progress& /*progress*/, tenon::Requests& /*requests*/) override { trap_.spring("at_step"); }

 private:
  Trap trap_;
};

struct ExporterParams {
  TrapParams trap;
  tenon::Verify verify;
  TENON_PARAMS(ExporterParams, tenon::field(&ExporterParams::trap, "trap", "Where it crashes"),
               tenon::field(&ExporterParams::verify, "verify", "What is compared"))
};

class CrashingExporter final : public tenon::Exporter {
 public:
  explicit CrashingExporter(const ExporterParams& params) : trap_(params.trap), verify_(params.verify) {}

  [[nodiscard]] std::string extension() const override { return ".pt"; }
  [[nodiscard]] const tenon::Verify& verify() const override { return verify_; }
  void write(tenon::Model& model, const tenon::Tensors& example, const std::vector<std::string>& outputs,
             const std::filesystem::path& file) override {
    trap_.spring("write");
    const torch::jit::Module module = tenon::exporters::trace(model.root(), example, outputs);
    tenon::exporters::Metadata metadata;
    for (const auto& [name, tensor] : example) metadata.inputs.push_back(name);
    metadata.outputs = outputs;
    module.save(file.string(), {{tenon::exporters::kMetadataFile, to_json(metadata)}});
  }
  [[nodiscard]] std::unique_ptr<tenon::Runnable> open(const std::filesystem::path& file) override {
    trap_.spring("open");
    return tenon::exporters::open_torchscript(file);
  }

 private:
  Trap trap_;
  tenon::Verify verify_;
};

TENON_COMPONENT(CrashingMetric, WatchingParams, "crashing", "Counts samples, and crashes")
TENON_COMPONENT(CrashingObserver, WatchingParams, "crashing", "Sees events, and crashes")
TENON_COMPONENT(CrashingExporter, ExporterParams, "crashing", "TorchScript, and a crash")

}  // namespace
}  // namespace crashing
