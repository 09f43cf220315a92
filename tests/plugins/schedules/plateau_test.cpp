// schedule:plateau: when it lowers the value, and that it remembers over a restart.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/schedule.hpp>
#include <tenon/harness/memory_state.hpp>

namespace tenon::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class PlateauTest : public ::testing::Test {
 protected:
  static Made<Schedule> made(const std::string& params) {
    return make<Schedule>("tenon_schedules", "plateau", R"({"metric": "validate.value", )" + params + "}");
  }

  void use(const std::string& params) { plateau_ = made(params); }

  /// Validates with one value after another, each followed by steps; the factor of the steps behind each.
  std::vector<double> factors(std::initializer_list<double> values, Direction better = Direction::kMax) {
    std::vector<double> found;
    for (const double value : values) {
      Progress progress;
      progress.metric = Observation{value, better};
      found.push_back(plateau_->factor(progress));
      for (int step = 0; step < 3; ++step) EXPECT_EQ(plateau_->factor(Progress{}), found.back());
    }
    return found;
  }

  Made<Schedule> plateau_;
};

using Factors = std::vector<double>;

TEST_F(PlateauTest, LowersTheValueAfterMoreThanThatManyValidationsWithoutABetterOne) {
  use(R"("patience": 2, "factor": 0.5)");
  EXPECT_EQ(plateau_->factor(Progress{}), 1);
  EXPECT_EQ(factors({0.5, 0.4, 0.5, 0.5, 0.4, 0.6, 0.5, 0.5, 0.5}), (Factors{1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.25}));
}

TEST_F(PlateauTest, FollowsTheMetricsOwnDirection) {
  use(R"("patience": 0, "factor": 0.5)");
  EXPECT_EQ(factors({3, 2, 1, 2}, Direction::kMin), (Factors{1, 1, 1, 0.5}));
  use(R"("patience": 0, "factor": 0.5)");
  EXPECT_EQ(factors({3, 2, 4}, Direction::kMax), (Factors{1, 0.5, 0.5}));
}

TEST_F(PlateauTest, WantsMoreThanTheThresholdAsAShareOrAnAmount) {
  use(R"("patience": 0, "factor": 0.5, "threshold": 0.5)");
  EXPECT_EQ(factors({2, 3, 3.1}), (Factors{1, 0.5, 0.5}));
  use(R"("patience": 0, "factor": 0.5, "threshold": 0.5, "threshold_mode": "abs")");
  EXPECT_EQ(factors({2, 2.5, 2.6}), (Factors{1, 0.5, 0.5}));
  use(R"("patience": 0, "factor": 0.5, "threshold": 0.5, "threshold_mode": "abs")");
  EXPECT_EQ(factors({2, 1.5, 1.4}, Direction::kMin), (Factors{1, 0.5, 0.5}));
}

TEST_F(PlateauTest, AWorseValueBelowZeroIsNotBetter) {
  use(R"("patience": 0, "factor": 0.5, "threshold": 0.1)");
  EXPECT_EQ(factors({-2, -2.1, -1.9, -1.7}), (Factors{1, 0.5, 0.25, 0.25}));
  use(R"("patience": 0, "factor": 0.5, "threshold": 0.1)");
  EXPECT_EQ(factors({-2, -1.9, -2.1, -2.3}, Direction::kMin), (Factors{1, 0.5, 0.25, 0.25}));
}

TEST_F(PlateauTest, DoesNotCountWhileItCoolsDown) {
  use(R"("patience": 1, "factor": 0.5, "cooldown": 3)");
  EXPECT_EQ(factors({1, 1, 1, 1, 1, 1, 1, 1}), (Factors{1, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.25}));
}

TEST_F(PlateauTest, StopsAtItsFloor) {
  use(R"("patience": 0, "factor": 0.5, "floor": 0.3)");
  EXPECT_EQ(factors({1, 1, 1, 1}), (Factors{1, 0.5, 0.3, 0.3}));
}

TEST_F(PlateauTest, AValueThatIsNotFiniteIsNotBetter) {
  use(R"("patience": 1, "factor": 0.5)");
  EXPECT_EQ(factors({kNan, kInfinity, 1, kInfinity, kNan, 2, 2}), (Factors{1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25}));
  use(R"("patience": 1, "factor": 0.5)");
  EXPECT_EQ(factors({1, -kInfinity, kNan}, Direction::kMin), (Factors{1, 1, 0.5}));
}

TEST_F(PlateauTest, GoesOnAfterARestartAsIfThereHadBeenNone) {
  const std::string params = R"("patience": 1, "factor": 0.5, "cooldown": 2)";
  const std::vector<double> values{kNan, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2};
  for (std::size_t stop = 0; stop <= values.size(); ++stop) {
    use(params);
    const auto straight = made(params);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i == stop) {
        MemoryState state;
        plateau_->state(state);
        use(params);
        state.restore();
        plateau_->state(state);
      }
      Progress progress;
      progress.metric = Observation{values[i], Direction::kMax};
      EXPECT_EQ(plateau_->factor(progress), straight->factor(progress)) << "stopped at " << stop << ", value " << i;
    }
    MemoryState state;
    MemoryState expected;
    plateau_->state(state);
    straight->state(expected);
    EXPECT_EQ(state.values(), expected.values()) << stop;
  }
}

TEST_F(PlateauTest, ChecksItsParameters) {
  const auto refused = [](const std::string& params) { return error_of([&] { (void)made(params); }).pointer(); };
  EXPECT_EQ(refused(R"("factor": 1)"), "/factor");
  EXPECT_EQ(refused(R"("factor": 0)"), "/factor");
  EXPECT_EQ(refused(R"("patience": -1)"), "/patience");
  EXPECT_EQ(refused(R"("threshold": -0.1)"), "/threshold");
  EXPECT_EQ(refused(R"("threshold_mode": "share")"), "/threshold_mode");
  EXPECT_EQ(refused(R"("cooldown": -1)"), "/cooldown");
  EXPECT_EQ(refused(R"("floor": 1.5)"), "/floor");
  const Error error = error_of([] { (void)make<Schedule>("tenon_schedules", "plateau"); });
  EXPECT_NE(std::string(error.what()).find("metric"), std::string::npos) << error.what();
}

}  // namespace
}  // namespace tenon::test
