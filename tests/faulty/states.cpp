// What goes wrong in stages that come late: metrics, controllers, and states that do not come back.
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <tenon/components/metric.hpp>
#include <tenon/components/observer.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace {

class ThrowingMetric final : public tenon::Metric {
 public:
  explicit ThrowingMetric(const tenon::NoParams& /*params*/) {}

  static tenon::Ports ports() {
    return {.in = {tenon::Port::of("logits", {tenon::Dtype::kFloat32}, {"N", "*"})}, .out = {}};
  }
  static std::vector<tenon::MetricOutput> outputs() { return {{"value", tenon::Direction::kMax}}; }

  void reset() override {}
  void update(const tenon::Tensors& /*in*/) override { throw std::runtime_error("this metric cannot count"); }
  [[nodiscard]] std::vector<double> compute(tenon::Collectives& /*ranks*/) override { return {0}; }
};

class ThrowingController final : public tenon::Observer, public tenon::Controller {
 public:
  explicit ThrowingController(const tenon::NoParams& /*params*/) {}

  static std::vector<std::string> abilities() { return {kAbility}; }
  void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<tenon::Controller*>(this) : nullptr;
  }

  void on(const tenon::Event& /*event*/) override {}
  void at_step(const tenon::Progress& /*progress*/, tenon::Requests& /*requests*/) override {
    throw std::runtime_error("this controller cannot decide");
  }
};

enum class Change { kName, kType };
TENON_ENUM(Change, "name", "type")

struct ForgetsParams {
  Change changes = Change::kName;
  TENON_PARAMS(ForgetsParams,
               tenon::field(&ForgetsParams::changes, "changes", "What differs between saving and reading"))
};

/// Asks for another state than it saved.
class Forgets final : public tenon::Transform {
 public:
  explicit Forgets(const ForgetsParams& params) : params_(params) {}

  static tenon::Ports ports() { return {.in = {}, .out = {tenon::Port::pass_all()}}; }

  [[nodiscard]] tenon::Spec spec(const tenon::Spec& in) const override { return in; }
  void apply(tenon::Sample& /*sample*/, tenon::Rng& /*random*/, const tenon::When& /*when*/) const override {}
  void state(tenon::StateIo& io) override {
    int64_t number = 1;
    bool flag = true;
    if (params_.changes == Change::kName) {
      io.io(io.saving() ? "written" : "read", number);
    } else if (io.saving()) {
      io.io("value", number);
    } else {
      io.io("value", flag);
    }
  }

 private:
  ForgetsParams params_;
};

}  // namespace

TENON_COMPONENT(ThrowingMetric, tenon::NoParams, "throwing", "A metric that throws at every batch")
TENON_COMPONENT(ThrowingController, tenon::NoParams, "throwing_controller", "A controller that throws at every step")
TENON_COMPONENT(Forgets, ForgetsParams, "forgets", "Does not know its own state again")
