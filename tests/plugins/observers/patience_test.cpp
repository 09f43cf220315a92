// observer:patience: when it asks to stop, and that it remembers over a restart.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/observer.hpp>
#include <tenon/harness/memory_state.hpp>

namespace tenon::test {
namespace {

struct Asked final : Requests {
  void stop(std::string_view reason) override { reasons.emplace_back(reason); }
  void save() override { ++saves; }

  std::vector<std::string> reasons;
  int saves = 0;
};

class PatienceTest : public ::testing::Test {
 protected:
  void use(const std::string& params) {
    patience_ = make<Observer>("tenon_observers", "patience", params);
    controller_ = static_cast<Controller*>(patience_->ability(Controller::kAbility));
    ASSERT_NE(controller_, nullptr);
  }

  /// Feeds one validation after another, 10 steps apart; true when it asked to stop after the last.
  bool validate(std::initializer_list<double> values, Direction better = Direction::kMax) {
    for (const double value : values) {
      asked_.reasons.clear();
      progress_.applied += 10;
      progress_.metric = Observation{value, better};
      controller_->at_step(progress_, asked_);
    }
    return !asked_.reasons.empty();
  }

  Made<Observer> patience_;
  Controller* controller_ = nullptr;
  Progress progress_;
  Asked asked_;
};

TEST_F(PatienceTest, StopsAfterThatManyValidationsWithoutABetterOne) {
  use(R"({"metric": "validate.acc", "patience": 3})");
  EXPECT_FALSE(validate({0.5, 0.6, 0.6, 0.55}));
  EXPECT_TRUE(validate({0.6}));
  EXPECT_EQ(asked_.reasons.front(), "validate.acc has not improved for 3 validations (best 0.6 at step 20)");
  EXPECT_EQ(asked_.saves, 0);
}

TEST_F(PatienceTest, StartsToCountAnewAtEachImprovement) {
  use(R"({"metric": "validate.acc", "patience": 2})");
  EXPECT_FALSE(validate({0.5, 0.4, 0.6, 0.5, 0.7, 0.7}));
  EXPECT_TRUE(validate({0.7}));
}

TEST_F(PatienceTest, FollowsTheMetricsOwnDirection) {
  use(R"({"metric": "validate.error", "patience": 1})");
  EXPECT_FALSE(validate({3, 2, 1}, Direction::kMin));
  EXPECT_TRUE(validate({1.5}, Direction::kMin));
}

TEST_F(PatienceTest, AValueThatIsNotFiniteIsNoImprovement) {
  use(R"({"metric": "validate.acc", "patience": 2})");
  EXPECT_TRUE(validate({std::nan(""), std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(asked_.reasons.front(), "validate.acc was not finite in 2 validations");
  EXPECT_FALSE(validate({0.1, std::nan("")}));
  EXPECT_TRUE(validate({std::nan("")}));
}

TEST_F(PatienceTest, IgnoresStepsWithoutAValidation) {
  use(R"({"metric": "validate.acc", "patience": 1})");
  validate({0.5});
  progress_.metric.reset();
  for (int step = 0; step < 100; ++step) controller_->at_step(progress_, asked_);
  EXPECT_TRUE(asked_.reasons.empty());
}

TEST_F(PatienceTest, RemembersOverARestart) {
  use(R"({"metric": "validate.acc", "patience": 3})");
  validate({0.9, 0.5, 0.5});
  MemoryState state;
  patience_->state(state);
  use(R"({"metric": "validate.acc", "patience": 3})");
  state.restore();
  patience_->state(state);
  EXPECT_TRUE(validate({0.8}));
  EXPECT_EQ(asked_.reasons.front(), "validate.acc has not improved for 3 validations (best 0.9 at step 10)");
}

TEST_F(PatienceTest, NeedsAMetricAndAPositivePatience) {
  const auto made = [](const std::string& params) { (void)make<Observer>("tenon_observers", "patience", params); };
  EXPECT_NE(std::string(error_of([&] { made("{}"); }).what()).find("metric"), std::string::npos);
  EXPECT_EQ(error_of([&] { made(R"({"metric": "acc", "patience": 0})"); }).pointer(), "/patience");
}

TEST_F(PatienceTest, HasNoOtherAbility) {
  use(R"({"metric": "acc"})");
  EXPECT_EQ(patience_->ability("tenon.controller/2"), nullptr);
}

}  // namespace
}  // namespace tenon::test
