// The loader alone, over samples of a known cost: what it costs to hand a batch over, and how threads scale.
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <thread>

#include <clocks.hpp>
#include <contender.hpp>
#include <engine/data/loader.hpp>
#include <engine/data/stream.hpp>
#include <reading.hpp>
#include <tenon/components/dataset.hpp>

namespace tenon::bench {
namespace {

/// Takes memory for an item and leaves it as it is.
class Untouched final : public Dataset {
 public:
  Untouched(Dtype dtype, int64_t items) : dtype_(dtype), items_(items) {}

  [[nodiscard]] Spec spec() const override { return {{"x", dtype_, {64, 3, 224, 224}}}; }
  void open(std::span<Dataset* const> /*inputs*/) override {}
  [[nodiscard]] int64_t size() const override { return items_; }
  [[nodiscard]] std::string fingerprint() const override { return "untouched"; }
  void read(int64_t /*index*/, Sample& out) const override {
    const Shape shape{64, 3, 224, 224};
    (void)out.allocate(0, dtype_, shape);
  }

 private:
  Dtype dtype_;
  int64_t items_;
};

/// Takes some time for each item, on a core and off it.
class Costly final : public Dataset {
 public:
  Costly(double computing, double waiting, int64_t items) : computing_(computing), waiting_(waiting), items_(items) {}

  [[nodiscard]] Spec spec() const override { return {{"x", Dtype::kInt64, {}}}; }
  void open(std::span<Dataset* const> /*inputs*/) override {}
  [[nodiscard]] int64_t size() const override { return items_; }
  [[nodiscard]] std::string fingerprint() const override { return "costly"; }
  void read(int64_t index, Sample& out) const override {
    out.allocate(0, Dtype::kInt64, {}).as<int64_t>()[0] = index;
    if (waiting_ > 0) std::this_thread::sleep_for(std::chrono::duration<double>(waiting_));
    spin(computing_);
  }

 private:
  double computing_;
  double waiting_;
  int64_t items_;
};

class LoaderContender final : public Contender {
 public:
  explicit LoaderContender(const Json& scenario)
      : dataset_(make_dataset(scenario)),
        taking_(scenario.value("taking", 0.0)),
        stream_({.node = "data", .component = "dataset:known", .dataset = dataset_.get()}, {}, /*seed=*/7),
        loader_(stream_, options(scenario)) {}

  Json act(const Json& command) override {
    Json answer = read_epoch(loader_, command.value("round", int64_t{0}), taking_);
    answer.erase("ids");
    return answer;
  }

 private:
  static engine::LoaderOptions options(const Json& scenario) {
    engine::LoaderOptions options;
    options.node = "train";
    options.batch = scenario.value("batch", int64_t{1});
    options.automatic = scenario.at("workers").is_string();
    if (!options.automatic) options.workers = scenario.at("workers").get<int>();
    return options;
  }

  static std::unique_ptr<Dataset> make_dataset(const Json& scenario) {
    if (scenario.contains("dtype")) {
      const Dtype dtype = scenario.at("dtype").get<std::string>() == "f32" ? Dtype::kFloat32 : Dtype::kUint8;
      return std::make_unique<Untouched>(dtype, scenario.at("items").get<int64_t>());
    }
    return std::make_unique<Costly>(scenario.at("computing").get<double>(), scenario.value("waiting", 0.0),
                                    scenario.value("items", int64_t{1024}));
  }

  std::unique_ptr<Dataset> dataset_;
  double taking_;
  engine::Stream stream_;
  engine::Loader loader_;
};

}  // namespace

std::unique_ptr<Contender> make_loader(const Json& scenario) { return std::make_unique<LoaderContender>(scenario); }

}  // namespace tenon::bench
