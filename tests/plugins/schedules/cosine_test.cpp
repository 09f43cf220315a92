// schedule:cosine and schedule:constant: the value at each boundary.
#include <cmath>

#include <gtest/gtest.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/schedule.hpp>

namespace tenon::test {
namespace {

Progress at_step(int64_t applied, int64_t planned = 425) {
  Progress progress;
  progress.applied = applied;
  progress.planned = planned;
  progress.steps_per_epoch = 17;
  progress.samples_per_step = 64;
  return progress;
}

Made<Schedule> cosine(const std::string& params) { return make<Schedule>("tenon_schedules", "cosine", params); }

TEST(Cosine, RisesLinearlyToOneInTheLastStepOfItsWarmup) {
  const auto schedule = cosine(R"({"warmup": "50 steps"})");
  for (int64_t step = 0; step < 50; ++step) {
    EXPECT_DOUBLE_EQ(schedule->factor(at_step(step)), static_cast<double>(step + 1) / 50) << step;
  }
  EXPECT_DOUBLE_EQ(schedule->factor(at_step(50)), 1);
  EXPECT_LT(schedule->factor(at_step(51)), 1);
}

TEST(Cosine, FallsAlongHalfACosineFromTheWarmupToTheEnd) {
  const auto schedule = cosine(R"({"warmup": "25 steps", "floor": 0.2})");
  EXPECT_DOUBLE_EQ(schedule->factor(at_step(25)), 1);
  EXPECT_NEAR(schedule->factor(at_step(125)), 0.2 + 0.8 * 0.5 * (1 + std::sqrt(0.5)), 1e-12);
  EXPECT_NEAR(schedule->factor(at_step(225)), 0.6, 1e-12);
  EXPECT_NEAR(schedule->factor(at_step(424)), 0.2 + 0.8 * 0.5 * (1 + std::cos(std::acos(-1.0) * 399 / 400)), 1e-12);
  EXPECT_DOUBLE_EQ(schedule->factor(at_step(425)), 0.2);
  EXPECT_DOUBLE_EQ(schedule->factor(at_step(10000)), 0.2);
}

TEST(Cosine, WithoutWarmupStartsAtOneAndNeverRises) {
  const auto schedule = cosine("{}");
  double before = 1;
  EXPECT_DOUBLE_EQ(schedule->factor(at_step(0)), 1);
  for (int64_t step = 1; step < 425; ++step) {
    const double now = schedule->factor(at_step(step));
    EXPECT_LT(now, before) << step;
    EXPECT_GT(now, 0) << step;
    before = now;
  }
}

TEST(Cosine, ReachesItsFloorWhereToldAndCountsEpochsAndSamples) {
  EXPECT_DOUBLE_EQ(cosine(R"({"until": "100 steps"})")->factor(at_step(100)), 0);
  EXPECT_GT(cosine(R"({"until": "100 steps"})")->factor(at_step(99)), 0);
  EXPECT_DOUBLE_EQ(cosine(R"({"until": "2 epochs", "floor": 0.5})")->factor(at_step(34)), 0.5);
  EXPECT_DOUBLE_EQ(cosine(R"({"warmup": "1 epoch"})")->factor(at_step(0)), 1.0 / 17);
  EXPECT_DOUBLE_EQ(cosine(R"({"warmup": "640 samples"})")->factor(at_step(4)), 0.5);
}

TEST(Cosine, RefusesAWarmupThatIsLongerThanTheRun) {
  const auto schedule = cosine(R"({"warmup": "30 epochs"})");
  const Error error = error_of([&] { (void)schedule->factor(at_step(0)); });
  EXPECT_EQ(error.code(), ErrorCode::kConfig);
  EXPECT_EQ(error.pointer(), "/warmup");
  EXPECT_NE(std::string(error.what()).find("510 steps"), std::string::npos) << error.what();
  EXPECT_NE(std::string(error.what()).find("425 steps"), std::string::npos) << error.what();
  EXPECT_DOUBLE_EQ(cosine(R"({"warmup": "425 steps"})")->factor(at_step(424)), 1);
}

TEST(Cosine, ChecksItsParameters) {
  EXPECT_EQ(error_of([] { (void)cosine(R"({"warmup": 50})"); }).pointer(), "/warmup");
  EXPECT_EQ(error_of([] { (void)cosine(R"({"until": "never"})"); }).pointer(), "/until");
  EXPECT_EQ(error_of([] { (void)cosine(R"({"floor": 1.5})"); }).pointer(), "/floor");
}

TEST(Constant, IsOneEverywhere) {
  const auto schedule = make<Schedule>("tenon_schedules", "constant");
  for (const int64_t step : {0, 1, 424, 425, 100000}) EXPECT_EQ(schedule->factor(at_step(step)), 1);
}

}  // namespace
}  // namespace tenon::test
