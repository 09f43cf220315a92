// distributed:single: one rank, for which every collective is the identity.
#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/distributed.hpp>

namespace tenon::test {
namespace {

TEST(Single, IsRankZeroOfOneAndChangesNothing) {
  const auto single = make<Distributed>("tenon_distributed", "single");
  Collectives& ranks = single->join();
  EXPECT_EQ(ranks.rank(), 0);
  EXPECT_EQ(ranks.world(), 1);
  at::Tensor tensor = at::arange(4, at::TensorOptions(at::kDouble));
  const at::Tensor before = tensor.clone();
  for (const auto op : {Collectives::Op::kSum, Collectives::Op::kMax, Collectives::Op::kMin}) {
    ranks.all_reduce(tensor, op);
    EXPECT_TRUE(at::equal(tensor, before));
  }
  ranks.broadcast(tensor, 0);
  ranks.barrier();
  EXPECT_TRUE(at::equal(tensor, before));
  const std::vector<at::Tensor> gathered = ranks.all_gather(tensor);
  ASSERT_EQ(gathered.size(), 1U);
  EXPECT_TRUE(at::equal(gathered[0], before));
}

}  // namespace
}  // namespace tenon::test
