// dataset:repeat: another dataset several times over, in one epoch.
#include <string>

#include <selection/selection.hpp>
#include <tenon/registration.hpp>

namespace tenon::datasets {

struct RepeatParams {
  int64_t times = 1;

  TENON_PARAMS(RepeatParams,
               field(&RepeatParams::times, "times", "How often each item comes in an epoch").min(1).required())
};

/// Random transforms behind it see every occurrence as an item of its own.
class Repeat final : public Selection {
 public:
  explicit Repeat(const RepeatParams& params) : Selection("repeats"), times_(params.times) {}

  static Ports ports() { return {{Port::pass_all()}, {Port::pass_all()}}; }
  static Example example() { return {.params = R"({"times": 3})", .files = {}, .inputs = {}}; }

  [[nodiscard]] int64_t size() const override { return size_; }
  [[nodiscard]] std::string fingerprint() const override {
    return "repeat-1:" + std::to_string(times_) + ":" + input().fingerprint();
  }

 private:
  void choose(const Dataset& input) override {
    once_ = input.size();
    if (__builtin_mul_overflow(once_, times_, &size_)) {
      throw Error(ErrorCode::kData,
                  std::to_string(once_) + " items " + std::to_string(times_) + " times are more than 2^63", "/times");
    }
  }

  [[nodiscard]] int64_t source(int64_t index) const noexcept override { return index % once_; }

  int64_t times_;
  int64_t once_ = 0;
  int64_t size_ = 0;
};

TENON_COMPONENT(Repeat, RepeatParams, "repeat", "Another dataset several times over, so that an epoch is longer")

}  // namespace tenon::datasets
