// model:bigram is a table.
#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/model.hpp>
#include <tenon/harness/network.hpp>

namespace tenon::test {
namespace {

TEST(Bigram, LogitsAreTheRowOfEachToken) {
  const c10::NoGradGuard no_grad;
  const auto single = make<Distributed>("tenon_distributed", "single");
  const auto model = make<Model>("tenon_models", "bigram", R"({"vocabulary": 4})");
  model->build({{"tokens", Dtype::kInt64, {"N", "T"}}});
  materialize(model->root(), 9);
  at::Tensor table;
  model->root().visit_params([&](const std::string& name, nn::Param& slot) {
    EXPECT_EQ(name, "table");
    slot.value().copy_(at::arange(16, at::kFloat).view({4, 4}));
    table = slot.value();
  });
  const at::Tensor tokens = at::tensor({3, 0, 1, 1, 2, 3}).view({2, 3});
  const at::Tensor logits = run(model->root(), single->join(), {{"tokens", tokens}}, true).at("logits");
  ASSERT_EQ(logits.sizes(), (at::IntArrayRef{2, 4, 3}));
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t t = 0; t < 3; ++t) {
      EXPECT_TRUE(logits[n].select(1, t).equal(table[tokens[n][t].item<int64_t>()])) << n << ", " << t;
    }
  }
}

TEST(Bigram, NamesATokenThatIsNotInTheVocabulary) {
  const c10::NoGradGuard no_grad;
  const auto single = make<Distributed>("tenon_distributed", "single");
  const auto model = make<Model>("tenon_models", "bigram", R"({"vocabulary": 4})");
  model->build({{"tokens", Dtype::kInt64, {"N", "T"}}});
  materialize(model->root(), 9);
  for (const int64_t token : {4, -1}) {
    const at::Tensor tokens = at::tensor({3, 0, 1, static_cast<int>(token)}, at::kLong).view({2, 2});
    const Error error = error_of([&] { (void)run(model->root(), single->join(), {{"tokens", tokens}}, true); });
    EXPECT_EQ(error.code(), ErrorCode::kData);
    EXPECT_EQ(std::string(error.what()), "token " + std::to_string(token) + " is not in the vocabulary of 4 (0 to 3)");
  }
}

}  // namespace
}  // namespace tenon::test
