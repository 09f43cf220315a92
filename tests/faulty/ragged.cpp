// A dataset whose samples differ in size, for loaders that pad them, keep them as lists, or sort them by length.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include <tenon/components/dataset.hpp>
#include <tenon/registration.hpp>

namespace {

struct RaggedParams {
  int64_t size = 101;
  TENON_PARAMS(RaggedParams, tenon::field(&RaggedParams::size, "size", "Number of samples").min(1))
};

/// Sample i has 1 to 7 tokens of 0 to 11, of which each target is the next; 0 to 2 boxes; a class of 0 to 2; a weight.
class Ragged final : public tenon::Dataset {
 public:
  explicit Ragged(const RaggedParams& params) : params_(params) {}

  static tenon::Ports ports() {
    using tenon::Dtype;
    using tenon::Port;
    return {.in = {},
            .out = {Port::of("tokens", {Dtype::kInt64}, {"T"}), Port::of("target", {Dtype::kInt64}, {"T"}),
                    Port::of("boxes", {Dtype::kFloat32}, {"n", int64_t{4}}), Port::of("label", {Dtype::kInt64}, {}),
                    Port::of("weight", {Dtype::kFloat32}, {})}};
  }

  [[nodiscard]] tenon::Spec spec() const override {
    return {{"tokens", tenon::Dtype::kInt64, {"T"}},
            {"target", tenon::Dtype::kInt64, {"T"}},
            {"boxes", tenon::Dtype::kFloat32, {"n", 4}},
            {"label", tenon::Dtype::kInt64, {}},
            {"weight", tenon::Dtype::kFloat32, {}}};
  }
  void open(std::span<tenon::Dataset* const> /*inputs*/) override {}
  [[nodiscard]] int64_t size() const override { return params_.size; }
  [[nodiscard]] std::string fingerprint() const override { return "ragged " + std::to_string(params_.size); }

  void read(int64_t index, tenon::Sample& out) const override {
    const std::array<int64_t, 1> length{index * 5 % 7 + 1};
    const auto tokens = out.allocate(0, tenon::Dtype::kInt64, length).as<int64_t>();
    const auto target = out.allocate(1, tenon::Dtype::kInt64, length).as<int64_t>();
    int64_t token = index % 12;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      tokens[i] = token;
      token = (token * 5 + (index + static_cast<int64_t>(i)) % 2) % 12;
      target[i] = token;
    }
    const std::array<int64_t, 2> boxes{index % 3, 4};
    std::ranges::fill(out.allocate(2, tenon::Dtype::kFloat32, boxes).as<float>(), static_cast<float>(index));
    out.allocate(3, tenon::Dtype::kInt64, {}).as<int64_t>()[0] = index < 60 ? 0 : index % 3;
    out.allocate(4, tenon::Dtype::kFloat32, {}).as<float>()[0] = static_cast<float>(index % 4 + 1);
  }

 private:
  RaggedParams params_;
};

}  // namespace

TENON_COMPONENT(Ragged, RaggedParams, "ragged", "Samples of differing size")
