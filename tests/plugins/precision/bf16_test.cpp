// precision:bf16: float32 kept, bfloat16 computed, and a scale of one whatever gradients were like.
#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/precision.hpp>

namespace tenon::test {
namespace {

TEST(Bf16, KeepsFloat32AndComputesInBfloat16WithoutAScale) {
  const auto precision = make<Precision>("tenon_precision", "bf16");
  EXPECT_EQ(precision->storage(), at::kFloat);
  EXPECT_EQ(precision->autocast(), at::kBFloat16);
  precision->update(false);
  EXPECT_EQ(precision->scale(), 1);
  precision->update(true);
  EXPECT_EQ(precision->scale(), 1);
}

}  // namespace
}  // namespace tenon::test
