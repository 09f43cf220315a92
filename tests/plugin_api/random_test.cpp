// Keyed randomness: known answers, independence of order, uniformity.
#include <tenon/random.hpp>

#include <array>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(Rng, GivesTheKnownAnswersOfPhilox4x32Ten) {
  // From the known-answer file of the authors' library Random123: all zeros.
  Rng zeros(0, 0);
  EXPECT_EQ(zeros.bits(), 0x6627e8d5U);
  EXPECT_EQ(zeros.bits(), 0xe169c58dU);
  EXPECT_EQ(zeros.bits(), 0xbc57ac4cU);
  EXPECT_EQ(zeros.bits(), 0x9b00dbd8U);
}

TEST(Rng, SameKeySameNumbersOtherKeyOthers) {
  Rng a(random_key({7, name_key("shift"), 3, 11}));
  Rng b(random_key({7, name_key("shift"), 3, 11}));
  Rng c(random_key({7, name_key("shift"), 3, 12}));
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const uint32_t bits = a.bits();
    EXPECT_EQ(bits, b.bits());
    differs = differs || bits != c.bits();
  }
  EXPECT_TRUE(differs);
}

TEST(Rng, KeysDoNotCollideForNeighboursOrSwappedParts) {
  std::set<uint64_t> keys;
  for (uint64_t epoch = 0; epoch < 100; ++epoch) {
    for (uint64_t sample = 0; sample < 100; ++sample) keys.insert(random_key({7, epoch, sample}));
  }
  EXPECT_EQ(keys.size(), 10000U);
  EXPECT_NE(random_key({1, 2}), random_key({2, 1}));
  EXPECT_NE(random_key({0}), random_key({0, 0}));
}

TEST(Rng, IntegersAreWithinBoundsAndUniform) {
  Rng random(42);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70000; ++i) ++counts.at(static_cast<std::size_t>(random.integer(-3, 3) + 3));
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - 10000.0) * (count - 10000.0) / 10000.0;
  EXPECT_LT(chi_square, 22.46);  // 0.999 quantile with 6 degrees of freedom
  EXPECT_EQ(random.integer(5, 5), 5);
  EXPECT_EQ(random.integer(5, 4), 5);
  static_cast<void>(random.integer(INT64_MIN, INT64_MAX));  // the range of 2^64 has no modulus
}

TEST(Rng, UniformAndNormalHaveTheirMoments) {
  Rng random(1);
  double sum = 0;
  double normal_sum = 0;
  double normal_square = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    const double n = random.normal();
    ASSERT_TRUE(std::isfinite(n));
    normal_sum += n;
    normal_square += n * n;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.005);
  EXPECT_NEAR(normal_sum / kDraws, 0, 0.015);
  EXPECT_NEAR(normal_square / kDraws, 1, 0.02);
}

}  // namespace
}  // namespace tenon
