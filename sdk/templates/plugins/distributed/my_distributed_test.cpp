// MyDistributed: what the collectives promise, on every rank, and no rank that waits for ever.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenon/components/distributed.hpp>
#include <tenon/harness/collectives.hpp>
#include <tenon/harness/components.hpp>
#include <tenon/harness/gtest.hpp>

namespace {

using tenon::harness::make;
using tenon::harness::refused;

TEST(MyDistributed, GivesEveryRankWhatTheCollectivesPromise) {
  for (const char* const params : {R"({"ranks": 1})", R"({"ranks": 2})", R"({"ranks": 5})"}) {
    const auto backend = make<tenon::Distributed>("my_distributed", params);
    EXPECT_EQ(tenon::harness::collective_faults(*backend), std::vector<std::string>()) << params;
  }
}

TEST(MyDistributed, WakesRanksThatWaitForOneThatHasFailed) {
  const auto backend = make<tenon::Distributed>("my_distributed", R"({"ranks": 3})");
  EXPECT_EQ(tenon::harness::abandon_faults(*backend), std::vector<std::string>());
}

TEST(MyDistributed, ARankThatDoesNotComeFailsAllOfThem) {
  const auto backend = make<tenon::Distributed>("my_distributed", R"({"ranks": 3, "timeout": "2 s"})");
  const auto one_stays_away = [&] {
    tenon::harness::on_ranks(*backend, [](tenon::Collectives& ranks) {
      if (ranks.rank() != 1) ranks.barrier();
    });
  };
  EXPECT_TRUE(refused(one_stays_away, tenon::ErrorCode::kDistributed, "", "only 2 of 3 ranks came"));
}

TEST(MyDistributed, RefusesATimeoutOfNothing) {
  EXPECT_TRUE(refused([] { (void)make<tenon::Distributed>("my_distributed", R"({"timeout": "0 s"})"); },
                      tenon::ErrorCode::kConfig, "/timeout"));
}

}  // namespace
