// dataset:limit: the first items of another dataset.
#include <algorithm>
#include <string>
#include <vector>

#include <selection/selection.hpp>
#include <tenon/components/remarks.hpp>
#include <tenon/registration.hpp>

namespace tenon::datasets {

struct LimitParams {
  int64_t count = 0;

  TENON_PARAMS(
      LimitParams,
      field(&LimitParams::count, "count", "How many items, at most: all where the input has fewer").min(1).required())
};

class Limit final : public Selection, public Remarks {
 public:
  explicit Limit(const LimitParams& params) : Selection("shortens"), count_(params.count) {}

  static Ports ports() { return {{Port::pass_all()}, {Port::pass_all()}}; }
  static Example example() { return {.params = R"({"count": 50})", .files = {}, .inputs = {}}; }
  static std::vector<std::string> abilities() {
    std::vector<std::string> all = Selection::abilities();
    all.emplace_back(Remarks::kAbility);
    return all;
  }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == Remarks::kAbility ? static_cast<Remarks*>(this) : Selection::ability(id);
  }

  [[nodiscard]] int64_t size() const override { return size_; }
  [[nodiscard]] std::string fingerprint() const override {
    return "limit-1:" + std::to_string(size_) + ":" + input().fingerprint();
  }

  [[nodiscard]] std::vector<std::string> remarks() const override {
    if (size_ == count_) return {};
    return {"the input has " + std::to_string(size_) + " items, fewer than \"count\": " + std::to_string(count_)};
  }

 private:
  void choose(const Dataset& input) override { size_ = std::min(count_, input.size()); }
  [[nodiscard]] int64_t source(int64_t index) const noexcept override { return index; }

  int64_t count_;
  int64_t size_ = 0;
};

TENON_COMPONENT(Limit, LimitParams, "limit", "The first items of another dataset, as for a quick try")

}  // namespace tenon::datasets
