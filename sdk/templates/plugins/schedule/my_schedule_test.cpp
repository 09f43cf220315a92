// MySchedule: where it starts, where it ends, and the way between.
#include <vector>

#include <gtest/gtest.h>

#include <tenon/components/schedule.hpp>
#include <tenon/harness/components.hpp>
#include <tenon/harness/gtest.hpp>
#include <tenon/harness/progress.hpp>

namespace {

using tenon::harness::Course;
using tenon::harness::curve;
using tenon::harness::make;
using tenon::harness::refused;

const Course kTenSteps{.steps = 10};

TEST(MySchedule, FallsEvenlyFromTheConfiguredValue) {
  const auto schedule = make<tenon::Schedule>("my_schedule");
  const std::vector<double> factors = curve(*schedule, kTenSteps);
  ASSERT_EQ(factors.size(), 10U);
  EXPECT_DOUBLE_EQ(factors.front(), 1);
  EXPECT_DOUBLE_EQ(factors[5], 0.5);
  EXPECT_DOUBLE_EQ(factors.back(), 0.1);
}

TEST(MySchedule, FallsFasterWithAPowerAndNotBelowTheLastShare) {
  const auto schedule = make<tenon::Schedule>("my_schedule", R"({"power": 2, "last": 0.2})");
  EXPECT_DOUBLE_EQ(curve(*schedule, kTenSteps)[5], 0.2 + 0.8 * 0.25);
  EXPECT_DOUBLE_EQ(schedule->factor(kTenSteps.at(10)), 0.2);
  EXPECT_DOUBLE_EQ(schedule->factor(kTenSteps.at(11)), 0.2);
}

TEST(MySchedule, RefusesAShareAboveOne) {
  EXPECT_TRUE(refused([] { (void)make<tenon::Schedule>("my_schedule", R"({"last": 1.5})"); }, tenon::ErrorCode::kConfig,
                      "/last"));
}

}  // namespace
