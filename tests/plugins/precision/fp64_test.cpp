// precision:fp64: float64 for all that is kept, and no cast in between.
#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/precision.hpp>

namespace tenon::test {
namespace {

TEST(Fp64, KeepsFloat64AndLeavesTheLossAlone) {
  const auto precision = make<Precision>("tenon_precision", "fp64");
  EXPECT_EQ(precision->storage(), at::kDouble);
  EXPECT_FALSE(precision->autocast().has_value());
  precision->update(false);
  EXPECT_EQ(precision->scale(), 1);
  precision->update(true);
  EXPECT_EQ(precision->scale(), 1);
}

}  // namespace
}  // namespace tenon::test
