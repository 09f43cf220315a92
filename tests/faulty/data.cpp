// Transforms and datasets that fail on some sample.
#include <stdexcept>

#include <tenon/components/dataset.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace {

struct ThrowingParams {
  double probability = 0.01;
  TENON_PARAMS(ThrowingParams,
               tenon::field(&ThrowingParams::probability, "probability", "How often it throws").min(0).max(1))
};

class Throwing final : public tenon::Transform {
 public:
  explicit Throwing(const ThrowingParams& params) : params_(params) {}

  static tenon::Ports ports() { return {.in = {}, .out = {tenon::Port::pass_all()}}; }

  tenon::Spec spec(const tenon::Spec& in) const override { return in; }
  void apply(tenon::Sample& /*sample*/, tenon::Rng& random, const tenon::When& /*when*/) const override {
    if (random.chance(params_.probability)) throw std::runtime_error("this sample is unreadable");
  }

 private:
  ThrowingParams params_;
};

class MissingFile final : public tenon::Dataset {
 public:
  explicit MissingFile(const tenon::NoParams& /*params*/) {}

  static tenon::Ports ports() {
    return {.in = {},
            .out = {tenon::Port::of("image", {tenon::Dtype::kUint8}, {int64_t{1}, int64_t{8}, int64_t{8}}),
                    tenon::Port::of("label", {tenon::Dtype::kInt64}, {})}};
  }

  tenon::Spec spec() const override {
    return {{"image", tenon::Dtype::kUint8, {1, 8, 8}}, {"label", tenon::Dtype::kInt64, {}}};
  }
  void open(std::span<tenon::Dataset* const> /*inputs*/) override {
    throw tenon::Error(tenon::ErrorCode::kData, "digits.idx is not there");
  }
  int64_t size() const override { return 0; }
  std::string fingerprint() const override { return ""; }
  void read(int64_t /*index*/, tenon::Sample& /*out*/) const override {}
};

}  // namespace

TENON_COMPONENT(Throwing, ThrowingParams, "throwing", "Throws on some samples")
TENON_COMPONENT(MissingFile, tenon::NoParams, "missing_file", "A dataset whose file is not there")
