// The rule by which an exported file agrees with the live model.
#include <cmath>
#include <limits>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <engine/difference.hpp>

namespace tenon::engine {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool agrees(const at::Tensor& got, const at::Tensor& wanted) {
  return difference(3, "logits", got, wanted, Verify{}).within;
}

TEST(Difference, LetsRoundingThroughAndNothingMuchLarger) {
  const at::Tensor wanted = at::tensor({3.0, -2.0, 0.001});
  EXPECT_TRUE(agrees(wanted + 1e-6, wanted));
  EXPECT_TRUE(agrees(wanted * (1 + 9e-5), wanted));
  EXPECT_FALSE(agrees(wanted * (1 + 3e-4), wanted));
  EXPECT_FALSE(agrees(wanted + at::tensor({0.0, 0.0, 2e-5}), wanted));
}

TEST(Difference, IsJudgedByTheSizeOfTheNumbers) {
  // atol = 1e-5 in the output's unit would let every one of these pass.
  for (const double scale : {1e-3, 1e-6, 1e-12, 1e-30}) {
    const at::Tensor wanted = at::tensor({3.0, -2.0, 0.001}, at::kDouble) * scale;
    EXPECT_FALSE(agrees(wanted * 1.001, wanted)) << scale;
    EXPECT_FALSE(agrees(wanted.neg(), wanted)) << scale;
    EXPECT_FALSE(agrees(at::zeros_like(wanted), wanted)) << scale;
    EXPECT_TRUE(agrees(wanted + 1e-6 * scale, wanted)) << scale;  // 8 roundings of float32
  }
}

TEST(Difference, AtolIsInTheOutputsUnitForLargeNumbers) {
  const at::Tensor wanted = at::tensor({1000.0, 0.0});
  EXPECT_TRUE(agrees(wanted + at::tensor({0.0, 0.9e-5}), wanted));
  EXPECT_FALSE(agrees(wanted + at::tensor({0.0, 1.2e-5}), wanted));
}

TEST(Difference, OfNothingButZerosIsLetThroughOnlyWhenThereIsNone) {
  EXPECT_TRUE(agrees(at::zeros({2}), at::zeros({2})));
  EXPECT_FALSE(agrees(at::full({2}, 1e-9), at::zeros({2})));
}

TEST(Difference, WholeNumbersAndBooleansMustBeEqual) {
  const at::Tensor labels = at::tensor({100000, 7}, at::kLong);
  EXPECT_TRUE(agrees(labels.clone(), labels));
  EXPECT_FALSE(agrees(labels + 1, labels));
  const at::Tensor large = at::full({1}, int64_t{1} << 60, at::kLong);
  EXPECT_FALSE(agrees(large + 1, large)) << "double precision does not tell them apart";
  EXPECT_FALSE(agrees(at::zeros({2}, at::kBool), at::ones({2}, at::kBool)));
}

TEST(Difference, NanNeverAgreesAndInfinitiesMustBeTheSame) {
  const at::Tensor masked = at::tensor({1.0, -kInfinity});
  EXPECT_TRUE(agrees(masked.clone(), masked));
  EXPECT_FALSE(agrees(at::tensor({1.0, kInfinity}), masked));
  EXPECT_FALSE(agrees(at::tensor({1.0, 0.0}), masked));
  EXPECT_FALSE(agrees(at::tensor({1.0, kNan}), masked));
  EXPECT_FALSE(agrees(at::tensor({kInfinity, -kInfinity}), masked));
  EXPECT_FALSE(agrees(at::tensor({1.0 + 1e-3, -kInfinity}), masked)) << "an infinity sets no scale";
}

TEST(Difference, TellsHowFarApartTheyAre) {
  const Difference found = difference(3, "logits", at::tensor({2.5f, 0.0f, -8.0f, 1.0f}).view({2, 2}),
                                      at::tensor({2.0f, 0.0f, -8.0f, 1.0f}).view({2, 2}), {});
  EXPECT_EQ(found.batch, 3);
  EXPECT_EQ(found.shape, "float32[2, 2]");
  EXPECT_EQ(found.magnitude, 8);
  EXPECT_EQ(found.max_abs, 0.5);
  EXPECT_EQ(found.max_rel, 0.25);
  EXPECT_EQ(difference(1, "x", at::ones({1}), at::zeros({1}), {}).max_rel, kInfinity);
  EXPECT_TRUE(std::isnan(difference(1, "x", at::full({1}, kNan), at::zeros({1}), {}).max_abs));
}

TEST(SameBits, NoticesEveryBit) {
  const at::Tensor numbers = at::tensor({1.0f, kNan, 0.0f}, at::kFloat);
  EXPECT_TRUE(same_bits(numbers, numbers.clone()));
  EXPECT_FALSE(same_bits(numbers, at::tensor({std::nextafter(1.0f, 2.0f), kNan, 0.0f}, at::kFloat)));
  EXPECT_FALSE(same_bits(at::zeros({1}), -at::zeros({1})));
  EXPECT_FALSE(same_bits(at::zeros({1}), at::zeros({1, 1})));
  EXPECT_FALSE(same_bits(at::zeros({1}), at::zeros({1}, at::kInt)));
  EXPECT_TRUE(same_bits(at::arange(6).view({2, 3}).t(), at::arange(6).view({2, 3}).t().contiguous()));
}

}  // namespace
}  // namespace tenon::engine
