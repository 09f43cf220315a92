// Moments against the plain formulas, however the numbers are cut.
#include <engine/data/check/moments.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace tenon::engine {
namespace {

/// Far from 0 against their spread, so that sums of squares would lose it.
std::vector<double> numbers() {
  std::vector<double> all;
  all.reserve(1000);
  for (int i = 0; i < 1000; ++i) all.push_back(1e8 + std::sin(i) * 0.5);
  return all;
}

Moments of(const std::vector<double>& all, std::size_t begin, std::size_t end) {
  Moments moments;
  for (std::size_t i = begin; i < end; ++i) moments.add(all[i], static_cast<int64_t>(i));
  return moments;
}

TEST(Moments, AreThoseOfTwoPassesAlsoFarFromZero) {
  const std::vector<double> all = numbers();
  double mean = 0;
  for (const double each : all) mean += (each - 1e8) / 1000;
  double squares = 0;
  for (const double each : all) squares += (each - 1e8 - mean) * (each - 1e8 - mean);
  const Moments moments = of(all, 0, all.size());
  EXPECT_EQ(moments.count, 1000);
  EXPECT_NEAR(moments.mean - 1e8, mean, 1e-7);
  EXPECT_NEAR(moments.deviation(), std::sqrt(squares / 1000), 1e-7);
}

TEST(Moments, OfPartsJoinToThoseOfTheWhole) {
  const std::vector<double> all = numbers();
  const Moments whole = of(all, 0, all.size());
  Moments joined = of(all, 0, 0);
  for (const auto& [begin, end] : {std::pair<std::size_t, std::size_t>{0, 1}, {1, 400}, {400, 400}, {400, 1000}}) {
    joined.join(of(all, begin, end));
  }
  EXPECT_EQ(joined.count, whole.count);
  EXPECT_EQ(joined.minimum, whole.minimum);
  EXPECT_EQ(joined.maximum, whole.maximum);
  EXPECT_NEAR(joined.mean, whole.mean, 1e-7);
  EXPECT_NEAR(joined.deviation(), whole.deviation(), 1e-7);
}

TEST(Moments, LeaveOutWhatIsNotFiniteAndNameItsFirstSample) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> all{1, 2, std::nan(""), 3, -kInfinity};
  Moments moments = of(all, 0, 2);
  EXPECT_EQ(moments.first_not_finite, -1);
  moments.join(of(all, 2, 5));
  EXPECT_EQ(moments.count, 3);
  EXPECT_EQ(moments.mean, 2);
  EXPECT_EQ(moments.not_finite, 2);
  EXPECT_EQ(moments.first_not_finite, 2);
}

TEST(Moments, OneNumberIsNotConstantTwoEqualOnesAre) {
  EXPECT_FALSE(of({5}, 0, 1).constant());
  EXPECT_TRUE(of({5, 5}, 0, 2).constant());
  EXPECT_FALSE(of({5, 6}, 0, 2).constant());
  EXPECT_FALSE(Moments().constant());
}

}  // namespace
}  // namespace tenon::engine
