// Schedules and observers over the course of a run.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenon/harness/gtest.hpp>
#include <tenon/harness/progress.hpp>

namespace tenon::harness {
namespace {

/// Halves with every metric that it is told.
class Halves final : public Schedule {
 public:
  [[nodiscard]] double factor(const Progress& progress) override {
    if (progress.metric) factor_ /= 2;
    return factor_;
  }
  double factor_ = 1;
};

class Broken final : public Schedule {
 public:
  [[nodiscard]] double factor(const Progress& progress) override {
    return progress.applied < 3 ? 1 : std::numeric_limits<double>::quiet_NaN();
  }
};

class Watches final : public Observer, public Controller {
 public:
  void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<Controller*>(this) : nullptr;
  }
  void on(const Event& event) override {
    seen.push_back(event.kind);
    for (const LoggedValue& each : event.values) keys.emplace_back(each.key);
  }
  void at_step(const Progress& progress, Requests& requests) override {
    ++steps;
    if (!progress.metric) return;
    metrics.push_back(progress.metric->value);
    requests.stop("enough");
  }

  std::vector<Event::Kind> seen;
  std::vector<std::string> keys;
  std::vector<double> metrics;
  int steps = 0;
};

Course two_epochs() {
  Course course;
  course.steps = 6;
  course.steps_per_epoch = 3;
  course.metric = [](int64_t epoch) { return static_cast<double>(10 + epoch); };
  return course;
}

TEST(HarnessProgress, TellsAScheduleTheMetricBehindEachEpoch) {
  Halves halves;
  EXPECT_EQ(curve(halves, two_epochs()), (std::vector<double>{1, 1, 1, 0.5, 0.5, 0.5}));
}

TEST(HarnessProgress, GoesOnFromAStep) {
  Halves halves;
  EXPECT_EQ(curve(halves, two_epochs(), 4), (std::vector<double>{1, 1}));
}

TEST(HarnessProgress, RefusesFactorsThatAreNotFinite) {
  Broken broken;
  EXPECT_TRUE(refused([&] { (void)curve(broken, two_epochs()); }, ErrorCode::kPlugin, "", "before step 3"));
}

TEST(HarnessProgress, FeedsARunFromStartToEnd) {
  Watches watches;
  feed(watches, events_of(two_epochs()), two_epochs());
  ASSERT_FALSE(watches.seen.empty());
  EXPECT_EQ(watches.seen.front(), Event::Kind::kRunStart);
  EXPECT_EQ(watches.seen.back(), Event::Kind::kRunEnd);
  EXPECT_EQ(std::count(watches.seen.begin(), watches.seen.end(), Event::Kind::kStep), 6);
  EXPECT_EQ(std::count(watches.keys.begin(), watches.keys.end(), "validate.acc"), 2);
}

TEST(HarnessProgress, SteersAfterEveryStepAndValidation) {
  Watches watches;
  Asked asked;
  steer(watches, two_epochs(), 0, 6, asked);
  EXPECT_EQ(watches.steps, 8);
  EXPECT_EQ(watches.metrics, (std::vector<double>{10, 11}));
  EXPECT_EQ(asked.stops, (std::vector<std::string>{"enough", "enough"}));
}

}  // namespace
}  // namespace tenon::harness
