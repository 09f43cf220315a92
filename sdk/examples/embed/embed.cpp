// Trains and predicts within a program of one's own: its data and a transform come from its memory, no plugin is built.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <tenon/components/dataset.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/kernel.hpp>

namespace {

struct Reading {
  float position[2];
  int64_t ring;
};

/// What the program has measured so far; the vector stays where it is.
class Readings final : public tenon::Dataset {
 public:
  Readings(const tenon::NoParams& /*none*/, const std::vector<Reading>& all) : all_(all) {}

  static tenon::Ports ports() {
    return {{},
            {tenon::Port::of("position", {tenon::Dtype::kFloat32}, {2}),
             tenon::Port::of("ring", {tenon::Dtype::kInt64}, {})}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  tenon::Spec spec() const override {
    return {{"position", tenon::Dtype::kFloat32, {2}}, {"ring", tenon::Dtype::kInt64, {}}};
  }
  void open(std::span<Dataset* const> /*inputs*/) override {}
  int64_t size() const override { return static_cast<int64_t>(all_.size()); }
  std::string fingerprint() const override { return "readings of the spiral, " + std::to_string(all_.size()); }
  void read(int64_t index, tenon::Sample& out) const override {  // from several threads at once
    const Reading& reading = all_[static_cast<std::size_t>(index)];
    std::ranges::copy(reading.position,
                      out.allocate("position", tenon::Dtype::kFloat32, tenon::Shape{2}).as<float>().data());
    out.allocate("ring", tenon::Dtype::kInt64, {}).as<int64_t>()[0] = reading.ring;
  }

 private:
  const std::vector<Reading>& all_;
};

struct PolarParams {
  std::string field;
  TENON_PARAMS(PolarParams, tenon::field(&PolarParams::field, "field", "Two coordinates, float32[2]").required())
};

/// x, y to radius and angle. As it stands it could be the only file of a plugin, too.
class Polar final : public tenon::Transform {
 public:
  explicit Polar(const PolarParams& params) : field_(params.field) {}

  static tenon::Ports ports() {
    return {.in = {tenon::Port::of("$field", {tenon::Dtype::kFloat32}, {2})},
            .out = {tenon::Port::pass_all(), tenon::Port::same("$field")}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  tenon::Spec spec(const tenon::Spec& in) const override { return in; }
  void apply(tenon::Sample& sample, tenon::Rng& /*random*/, const tenon::When& /*when*/) const override {
    const auto in = sample.at(field_).as<float>();
    const auto out = sample.allocate(field_, tenon::Dtype::kFloat32, tenon::Shape{2}).as<float>();
    out[0] = std::hypot(in[0], in[1]);
    out[1] = std::atan2(in[1], in[0]);
  }

 private:
  std::string field_;
};
TENON_COMPONENT(Polar, PolarParams, "polar", "Cartesian to polar coordinates")

/// Points of a spiral; which of three rings around the origin they are in.
std::vector<Reading> measure(int count) {
  std::vector<Reading> readings;
  for (int i = 0; i < count; ++i) {
    const float radius = 3.0F * static_cast<float>(i) / static_cast<float>(count);
    const float angle = 2.4F * static_cast<float>(i);
    readings.push_back({{radius * std::cos(angle), radius * std::sin(angle)}, static_cast<int64_t>(radius)});
  }
  return readings;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<Reading> readings = measure(2000);
  tenon::kernel::Components own("org.example.embed", "1.0.0");
  own.add_linked();  // every TENON_COMPONENT of this program
  own.add<Readings>("readings", "Positions that this program has measured", std::cref(readings));
  const tenon::kernel::Runtime runtime({}, {own});
  const tenon::kernel::Pipeline pipeline = runtime.load(argc > 1 ? argv[1] : "embed.json");

  // The run has 1000 epochs; another thread ends it as soon as the observer has seen enough.
  std::atomic<double> accuracy = 0;
  std::stop_source stop;
  const std::jthread control([&](const std::stop_token& ending) {
    while (accuracy < 0.97 && !ending.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    stop.request_stop();
  });
  const auto observer = [&](const tenon::Event& event) {
    for (const tenon::LoggedValue& logged : event.values) {
      if (logged.key == "validate.acc") accuracy = std::max(accuracy.load(), logged.value);
    }
  };
  const tenon::kernel::Result result = runtime.train(pipeline, {.observer = observer, .stop = stop.get_token()});
  std::printf("accuracy %.2f, stopped after %lld steps: %s\n", accuracy.load(), static_cast<long long>(result.steps),
              result.checkpoint.c_str());

  tenon::kernel::Predictor predictor =
      runtime.predictor(result.checkpoint, {.fields = {{"position", tenon::Dtype::kFloat32, {2}}}});
  const std::vector<float> positions{0.3F, 0.2F, -1.1F, 1.1F, 0.0F, -2.7F};
  const tenon::kernel::Predictions predictions = predictor.predict({{"position", positions, {2}}});
  for (const int64_t ring : predictions.at("ring").as<int64_t>())
    std::printf("ring %lld\n", static_cast<long long>(ring));
  return 0;
} catch (const tenon::kernel::Error& error) {  // the only type that the kernel throws
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
