// dataset:digits: the UCI handwritten digits, carried by the library itself. Licence and authors: NOTICE.md.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <tenon/components/dataset.hpp>
#include <tenon/random.hpp>
#include <tenon/registration.hpp>

namespace tenon::datasets {
namespace {

constexpr std::size_t kPixels = 64;

/// One image a row: its pixels as digits of base 17 (0..9, A..G), then its label. See make_digits.py.
constexpr char kRows[][kPixels + 2] = {
#include <digits/digits.inc>
};
constexpr int64_t kRowCount = std::size(kRows);
static_assert(kRowCount == 1797);

constexpr uint8_t pixel(char symbol) { return static_cast<uint8_t>(symbol <= '9' ? symbol - '0' : symbol - 'A' + 10); }

}  // namespace

enum class Split { kTrain, kVal, kTest, kAll };
TENON_ENUM(Split, "train", "val", "test", "all")

struct DigitsParams {
  Split split = Split::kTrain;

  TENON_PARAMS(DigitsParams,
               field(&DigitsParams::split, "split",
                     "Part: test holds every fifth image from the first on (360), val every fifth from the "
                     "second on (360), train the rest (1,077), all the 1,797"))
};

class Digits final : public Dataset {
 public:
  explicit Digits(const DigitsParams& params) : split_(params.split) {}

  static Ports ports() {
    return {{}, {Port::of("image", {Dtype::kUint8}, {1, 8, 8}), Port::of("label", {Dtype::kInt64}, {})}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] Spec spec() const override {
    return {{"image", Dtype::kUint8, {1, 8, 8}}, {"label", Dtype::kInt64, {}}};
  }

  void open(std::span<Dataset* const> inputs) override {
    if (!inputs.empty()) throw Error(ErrorCode::kConfig, "carries its own images and takes no input: remove \"in\"");
    for (int64_t row = 0; row < kRowCount; ++row) {
      if (holds(row)) rows_.push_back(row);
    }
  }

  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(rows_.size()); }

  [[nodiscard]] std::string fingerprint() const override {
    const uint64_t hash = name_key({&kRows[0][0], sizeof(kRows)});
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
    return "digits:" + tenon_enum_names(split_).names[static_cast<std::size_t>(split_)] + ":" + digits.data();
  }

  void read(int64_t index, Sample& out) const override {
    static constexpr std::array<int64_t, 3> kImage{1, 8, 8};
    const std::string_view row(kRows[rows_.at(static_cast<std::size_t>(index))], kPixels + 1);
    std::transform(row.begin(), row.begin() + kPixels, out.allocate(0, Dtype::kUint8, kImage).as<uint8_t>().begin(),
                   pixel);
    out.allocate(1, Dtype::kInt64, {}).as<int64_t>()[0] = row.back() - '0';
  }

 private:
  [[nodiscard]] bool holds(int64_t row) const {
    switch (split_) {
      case Split::kTest: return row % 5 == 0;
      case Split::kVal: return row % 5 == 1;
      case Split::kTrain: return row % 5 > 1;
      case Split::kAll: return true;
    }
    return false;
  }

  Split split_;
  std::vector<int64_t> rows_;
};

TENON_COMPONENT(
    Digits, DigitsParams, "digits",
    "UCI handwritten digits by Alpaydin and Kaynak (CC BY 4.0): 1,797 images uint8[1, 8, 8] of 0 to 16, label 0 to 9")

}  // namespace tenon::datasets
