// precision:fp32: float32, no autocast, and a scale of one whatever gradients were like.
#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/precision.hpp>

namespace tenon::test {
namespace {

TEST(Fp32, LeavesTheLossAlone) {
  const auto precision = make<Precision>("tenon_precision", "fp32");
  EXPECT_EQ(precision->storage(), at::kFloat);
  EXPECT_FALSE(precision->autocast().has_value());
  precision->update(false);
  EXPECT_EQ(precision->scale(), 1);
  precision->update(true);
  EXPECT_EQ(precision->scale(), 1);
}

}  // namespace
}  // namespace tenon::test
