// MyPrecision: its scale over the steps of a run, and training under it.
#include <vector>

#include <gtest/gtest.h>

#include <tenon/components/precision.hpp>
#include <tenon/harness/components.hpp>
#include <tenon/harness/gtest.hpp>
#include <tenon/harness/memory_state.hpp>
#include <tenon/harness/precision.hpp>

namespace {

using tenon::harness::make;
using tenon::harness::scales;
using tenon::harness::train;

TEST(MyPrecision, HalvesItsScaleOnOverflowAndRecoversInSteps) {
  const auto precision = make<tenon::Precision>("my_precision", R"({"scale": 8, "recovery": 2})");
  EXPECT_EQ(scales(*precision, {true, false, false, true, true, true, true, true, true}),
            (std::vector<double>{8, 8, 4, 2, 2, 4, 4, 8, 8, 8}));
}

TEST(MyPrecision, NeverScalesBelowOne) {
  const auto precision = make<tenon::Precision>("my_precision", R"({"scale": 2})");
  EXPECT_EQ(scales(*precision, {false, false, false}), (std::vector<double>{2, 1, 1, 1}));
}

TEST(MyPrecision, LearnsAsFloat32Does) {
  const auto precision = make<tenon::Precision>("my_precision");
  const auto attempts = train(*precision, 100);
  EXPECT_TRUE(attempts.back().applied);
  EXPECT_LT(attempts.back().loss, 0.1 * attempts.front().loss);
}

TEST(MyPrecision, FindsAScaleAtWhichGradientsAreFinite) {
  const auto precision = make<tenon::Precision>("my_precision", R"({"scale": 16777216})");
  const auto attempts = train(*precision, 40);
  EXPECT_FALSE(attempts.front().applied);
  EXPECT_TRUE(attempts.back().applied);
  EXPECT_LT(attempts.back().scale, attempts.front().scale);
}

TEST(MyPrecision, GoesOnFromItsState) {
  const auto first = make<tenon::Precision>("my_precision", R"({"scale": 8, "recovery": 2})");
  const auto second = make<tenon::Precision>("my_precision", R"({"scale": 8, "recovery": 2})");
  (void)scales(*first, {false, true});
  tenon::harness::restore(*second, tenon::harness::save(*first));
  EXPECT_EQ(scales(*second, {true, true}), scales(*first, {true, true}));
}

TEST(MyPrecision, RefusesAStateThatIsNotItsOwn) {
  const auto large = make<tenon::Precision>("my_precision", R"({"scale": 1024})");
  const auto small = make<tenon::Precision>("my_precision", R"({"scale": 8})");
  EXPECT_TRUE(tenon::harness::refused([&] { tenon::harness::restore(*small, tenon::harness::save(*large)); },
                                      tenon::ErrorCode::kCheckpoint, "", "does not lie between"));
}

}  // namespace
