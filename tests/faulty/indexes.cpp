// A dataset whose index fails.
#include <array>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <tenon/components/columns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/registration.hpp>

namespace {

class BadIndex final : public tenon::Dataset, public tenon::Columns {
 public:
  explicit BadIndex(const tenon::NoParams& /*params*/) {}

  static tenon::Ports ports() {
    return {.in = {},
            .out = {tenon::Port::of("image", {tenon::Dtype::kUint8}, {int64_t{1}, int64_t{8}, int64_t{8}}),
                    tenon::Port::of("label", {tenon::Dtype::kInt64}, {})}};
  }

  static std::vector<std::string> abilities() { return {Columns::kAbility}; }

  [[nodiscard]] tenon::Spec spec() const override {
    return {{"image", tenon::Dtype::kUint8, {1, 8, 8}}, {"label", tenon::Dtype::kInt64, {}}};
  }
  void open(std::span<tenon::Dataset* const> /*inputs*/) override {}
  [[nodiscard]] int64_t size() const override { return 100; }
  [[nodiscard]] std::string fingerprint() const override { return "bad index"; }
  void read(int64_t index, tenon::Sample& out) const override {
    const std::array<int64_t, 3> shape{1, 8, 8};
    std::memset(out.allocate(0, tenon::Dtype::kUint8, shape).data, 0, 64);
    out.allocate(1, tenon::Dtype::kInt64, {}).as<int64_t>()[0] = index % 10;
  }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == Columns::kAbility ? static_cast<Columns*>(this) : nullptr;
  }
  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view /*field*/) const override {
    throw std::runtime_error("the index has a hole");
  }
};

}  // namespace

TENON_COMPONENT(BadIndex, tenon::NoParams, "bad_index", "A dataset whose index cannot be asked")
