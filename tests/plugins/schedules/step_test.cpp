// schedule:step: the value at each boundary.
#include <cmath>

#include <gtest/gtest.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/schedule.hpp>

namespace tenon::test {
namespace {

Progress at_step(int64_t applied) {
  Progress progress;
  progress.applied = applied;
  progress.planned = 425;
  progress.steps_per_epoch = 17;
  progress.samples_per_step = 64;
  return progress;
}

Made<Schedule> step(const std::string& params) { return make<Schedule>("tenon_schedules", "step", params); }

TEST(StepSchedule, MultipliesByGammaEachTimeThatTheDistanceIsComplete) {
  const auto schedule = step(R"({"every": "30 steps", "gamma": 0.5})");
  for (int64_t k = 0; k < 425; ++k) {
    EXPECT_DOUBLE_EQ(schedule->factor(at_step(k)), std::pow(0.5, std::floor(static_cast<double>(k) / 30))) << k;
  }
}

TEST(StepSchedule, TakesATenthWithoutAGamma) {
  const auto schedule = step(R"({"every": "30 steps"})");
  EXPECT_EQ(schedule->factor(at_step(29)), 1);
  EXPECT_DOUBLE_EQ(schedule->factor(at_step(30)), 0.1);
  EXPECT_DOUBLE_EQ(schedule->factor(at_step(60)), 0.01);
}

TEST(StepSchedule, MultipliesAtEachListedPointInAnyOrderAndUnit) {
  const auto schedule = step(R"({"at": ["100 steps", "640 samples", "3 epochs"], "gamma": 0.1})");
  const std::vector<std::pair<int64_t, double>> expected{{0, 1},     {9, 1},     {10, 0.1},   {50, 0.1},
                                                         {51, 0.01}, {99, 0.01}, {100, 1e-3}, {424, 1e-3}};
  for (const auto& [k, factor] : expected) EXPECT_DOUBLE_EQ(schedule->factor(at_step(k)), factor) << k;
}

TEST(StepSchedule, CountsEpochsAndSamplesOfADistance) {
  EXPECT_EQ(step(R"({"every": "2 epochs"})")->factor(at_step(33)), 1);
  EXPECT_DOUBLE_EQ(step(R"({"every": "2 epochs"})")->factor(at_step(34)), 0.1);
  EXPECT_EQ(step(R"({"every": "100 samples"})")->factor(at_step(1)), 1);
  EXPECT_DOUBLE_EQ(step(R"({"every": "100 samples"})")->factor(at_step(2)), 0.1);
}

TEST(StepSchedule, RisesThroughItsWarmupWhilePointsCountFromTheStart) {
  const auto schedule = step(R"({"every": "30 steps", "warmup": "40 steps", "gamma": 0.5})");
  for (int64_t k = 0; k < 30; ++k) EXPECT_DOUBLE_EQ(schedule->factor(at_step(k)), static_cast<double>(k + 1) / 40) << k;
  EXPECT_DOUBLE_EQ(schedule->factor(at_step(30)), 0.5 * 31 / 40);
  EXPECT_DOUBLE_EQ(schedule->factor(at_step(39)), 0.5);
  EXPECT_DOUBLE_EQ(schedule->factor(at_step(40)), 0.5);
  EXPECT_DOUBLE_EQ(schedule->factor(at_step(60)), 0.25);
}

TEST(StepSchedule, StaysFiniteForDistancesBeyondAllSteps) {
  const auto schedule = step(R"({"every": "4503599627370496 epochs"})");
  Progress progress = at_step(1000);
  progress.steps_per_epoch = 1;
  EXPECT_EQ(schedule->factor(progress), 1);
}

TEST(StepSchedule, WantsEitherADistanceOrPoints) {
  const auto refused = [](const std::string& params) {
    const Error error = error_of([&] { (void)step(params); });
    EXPECT_EQ(error.code(), ErrorCode::kConfig) << params;
    return error.pointer();
  };
  EXPECT_EQ(refused("{}"), "/every");
  EXPECT_EQ(refused(R"({"every": "never", "at": []})"), "/every");
  EXPECT_EQ(refused(R"({"every": "1 epoch", "at": ["2 epochs"]})"), "/at");
  EXPECT_EQ(step(R"({"every": "never", "at": ["2 epochs"]})")->factor(at_step(0)), 1);
  EXPECT_EQ(step(R"({"every": "2 epochs", "at": []})")->factor(at_step(0)), 1);
}

TEST(StepSchedule, ChecksItsParameters) {
  const auto refused = [](const std::string& params) { return error_of([&] { (void)step(params); }).pointer(); };
  EXPECT_EQ(refused(R"({"every": 30})"), "/every");
  EXPECT_EQ(refused(R"({"every": "0 epochs"})"), "/every");
  EXPECT_EQ(refused(R"({"at": ["1 epoch", "0 steps"]})"), "/at/1");
  EXPECT_EQ(refused(R"({"at": ["1 epoch", "2 weeks"]})"), "/at/1");
  EXPECT_EQ(refused(R"({"every": "1 epoch", "gamma": 0})"), "/gamma");
  EXPECT_EQ(refused(R"({"every": "1 epoch", "gamma": 1.5})"), "/gamma");
  EXPECT_EQ(refused(R"({"every": "1 epoch", "warmup": 3})"), "/warmup");
}

}  // namespace
}  // namespace tenon::test
