// A dataset and a transform that work until their trap springs.
#include <array>
#include <cstring>
#include <string>

#include <tenon/components/dataset.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>
#include <trap.hpp>

namespace crashing {
namespace {

struct DataParams {
  TrapParams trap;
  TENON_PARAMS(DataParams, tenon::field(&DataParams::trap, "trap", "Where it crashes"))
};

/// A thousand images of stripes.
class CrashingDataset final : public tenon::Dataset {
 public:
  explicit CrashingDataset(const DataParams& params) : trap_(params.trap) { trap_.spring("create"); }
  ~CrashingDataset() override { trap_.spring("destroy"); }

  static tenon::Ports ports() {
    return {.in = {},
            .out = {tenon::Port::of("image", {tenon::Dtype::kUint8}, {int64_t{1}, int64_t{8}, int64_t{8}}),
                    tenon::Port::of("label", {tenon::Dtype::kInt64}, {})}};
  }

  [[nodiscard]] tenon::Spec spec() const override {
    trap_.spring("spec");
    return {{"image", tenon::Dtype::kUint8, {1, 8, 8}}, {"label", tenon::Dtype::kInt64, {}}};
  }
  void open(std::span<tenon::Dataset* const> /*inputs*/) override { trap_.spring("open"); }
  [[nodiscard]] int64_t size() const override { return 1000; }
  [[nodiscard]] std::string fingerprint() const override { return "stripes"; }
  void read(int64_t index, tenon::Sample& out) const override {
    trap_.spring("read", index);
    const std::array<int64_t, 3> shape{1, 8, 8};
    const int64_t label = index % 10;
    std::memset(out.allocate(0, tenon::Dtype::kUint8, shape).data, static_cast<int>(label), 64);
    out.allocate(1, tenon::Dtype::kInt64, {}).as<int64_t>()[0] = label;
  }

 private:
  Trap trap_;
};

class CrashingTransform final : public tenon::Transform {
 public:
  explicit CrashingTransform(const DataParams& params) : trap_(params.trap) {}

  static tenon::Ports ports() { return {.in = {}, .out = {tenon::Port::pass_all()}}; }

  [[nodiscard]] tenon::Spec spec(const tenon::Spec& in) const override { return in; }
  void apply(tenon::Sample& /*sample*/, tenon::Rng& /*random*/, const tenon::When& /*when*/) const override {
    trap_.spring("apply");
  }

 private:
  Trap trap_;
};

TENON_COMPONENT(CrashingDataset, DataParams, "crashing", "Stripes, and a crash")
TENON_COMPONENT(CrashingTransform, DataParams, "crashing", "Changes nothing, and crashes")

}  // namespace
}  // namespace crashing
