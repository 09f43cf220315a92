// dataset:digits: the UCI handwritten digits, carried by the library itself. Licence and authors: NOTICE.md.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tenon/components/columns.hpp>
#include <tenon/components/dataset.hpp>
#include <tenon/components/in_memory.hpp>
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

/// Its images are unpacked by open() and lie in memory then.
class Digits final : public Dataset, public InMemory, public Columns {
 public:
  explicit Digits(const DigitsParams& params) : split_(params.split) {}

  static Ports ports() {
    return {{}, {Port::of("image", {Dtype::kUint8}, {1, 8, 8}), Port::of("label", {Dtype::kInt64}, {})}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static std::vector<std::string> abilities() { return {InMemory::kAbility, Columns::kAbility}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    const std::string_view wanted(id);
    if (wanted == InMemory::kAbility) return static_cast<InMemory*>(this);
    if (wanted == Columns::kAbility) return static_cast<Columns*>(this);
    return nullptr;
  }

  [[nodiscard]] Spec spec() const override {
    return {{"image", Dtype::kUint8, {1, 8, 8}}, {"label", Dtype::kInt64, {}}};
  }

  void open(std::span<Dataset* const> inputs) override {
    if (!inputs.empty()) throw Error(ErrorCode::kConfig, "carries its own images and takes no input: remove \"in\"");
    for (int64_t row = 0; row < kRowCount; ++row) {
      if (!holds(row)) continue;
      const std::string_view text(kRows[row], kPixels + 1);
      std::transform(text.begin(), text.begin() + kPixels, std::back_inserter(pixels_), pixel);
      labels_.push_back(text.back() - '0');
    }
  }

  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(labels_.size()); }

  [[nodiscard]] std::string fingerprint() const override {
    const uint64_t hash = name_key({&kRows[0][0], sizeof(kRows)});
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
    return "digits:" + tenon_enum_names(split_).names[static_cast<std::size_t>(split_)] + ":" + digits.data();
  }

  void read(int64_t index, Sample& out) const override {
    static constexpr std::array<int64_t, 3> kImage{1, 8, 8};
    const auto item = static_cast<std::size_t>(index);
    std::memcpy(out.allocate(0, Dtype::kUint8, kImage).data, pixels_.data() + item * kPixels, kPixels);
    out.allocate(1, Dtype::kInt64, {}).as<int64_t>()[0] = labels_[item];
  }

  void view(int64_t index, std::span<const std::byte*> fields) const noexcept override {
    const auto item = static_cast<std::size_t>(index);
    fields[0] = reinterpret_cast<const std::byte*>(pixels_.data() + item * kPixels);
    fields[1] = reinterpret_cast<const std::byte*>(labels_.data() + item);
  }

  [[nodiscard]] std::optional<std::vector<double>> column(std::string_view field) const override {
    if (field != "label") return std::nullopt;
    return std::vector<double>(labels_.begin(), labels_.end());
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
  std::vector<uint8_t> pixels_;  // [items, 8, 8]
  std::vector<int64_t> labels_;
};

TENON_COMPONENT(
    Digits, DigitsParams, "digits",
    "UCI handwritten digits by Alpaydin and Kaynak (CC BY 4.0): 1,797 images uint8[1, 8, 8] of 0 to 16, label 0 to 9")

}  // namespace tenon::datasets
