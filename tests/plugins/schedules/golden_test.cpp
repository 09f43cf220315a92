// Schedules against the sequences of Python's torch.
#include <gtest/gtest.h>

#include <plugins/support/golden.hpp>
#include <plugins/support/plugin.hpp>
#include <tenon/components/schedule.hpp>

namespace tenon::test {
namespace {

using Json = nlohmann::json;

TEST(GoldenSchedules, GiveTheFactorsOfTorch) {
  const Json all = golden("schedules");
  std::map<std::string, int64_t> cases;
  for (const Json& each : all.at("cases")) {
    const auto component = each.at("component").get<std::string>();
    const auto factors = each.at("factors").get<std::vector<double>>();
    const auto schedule = make<Schedule>("tenon_schedules", component, each.at("params").dump());
    ++cases[component];
    Progress progress;
    progress.planned = static_cast<int64_t>(factors.size());
    progress.steps_per_epoch = all.at("steps_per_epoch");
    progress.samples_per_step = 1;
    for (const double expected : factors) {
      const auto index = static_cast<std::size_t>(progress.applied);
      if (each.contains("metrics")) {
        progress.metric = Observation{each.at("metrics").at(index).get<double>(),
                                      each.at("better") == "max" ? Direction::kMax : Direction::kMin};
      }
      EXPECT_NEAR(schedule->factor(progress), expected, 1e-12 * expected) << each.at("name") << " at " << index;
      ++progress.applied;
    }
  }
  EXPECT_GE(cases["step"], 4);
  EXPECT_GE(cases["cosine"], 2);
  EXPECT_GE(cases["plateau"], 8);
}

}  // namespace
}  // namespace tenon::test
