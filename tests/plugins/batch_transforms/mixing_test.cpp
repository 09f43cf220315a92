// transform:batch_mixup and transform:batch_cutmix against their definitions, by the shares that the targets tell.
#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/batch_transform.hpp>

namespace tenon::test {
namespace {

constexpr int64_t kSamples = 6;

/// Image n is n everywhere, and of class n modulo 3.
Tensors batch(int64_t samples = kSamples) {
  const at::Tensor number = at::arange(samples, at::kFloat).reshape({samples, 1, 1, 1});
  return {{"image", number.expand({samples, 3, 8, 10}).contiguous()}, {"label", at::arange(samples).remainder(3)}};
}

class BatchMixing : public testing::TestWithParam<const char*> {
 protected:
  Tensors mix(const std::string& more, uint64_t key, Tensors fields = batch(), const When& when = {0, 1}) {
    const auto made = make<Transform>("tenon_batch_transforms", GetParam(), R"({"classes":3)" + more + "}");
    const auto& transform = dynamic_cast<const BatchTransform&>(*made);
    Rng random(key);
    transform.apply_batch(fields, random, when);
    return fields;
  }

  /// λ, which the target of sample 0 tells: it is of class 0, its partner of class 1.
  static double share(const Tensors& mixed) { return mixed.at("label")[0][0].item<double>(); }
};

TEST_P(BatchMixing, targets_keep_a_sum_of_one_and_name_sample_and_partner_alone) {
  const Tensors mixed = mix("", 1);
  const at::Tensor& target = mixed.at("label");
  EXPECT_EQ(target.sizes(), at::IntArrayRef({kSamples, 3}));
  EXPECT_LT((target.sum(1) - 1).abs().max().item<double>(), 1e-6);
  for (int64_t n = 0; n < kSamples; ++n) {
    EXPECT_NEAR(target[n][n % 3].item<double>(), share(mixed), 1e-6);
    EXPECT_NEAR(target[n][(n + 1) % 3].item<double>(), 1 - share(mixed), 1e-6) << n;
  }
}

TEST_P(BatchMixing, the_mean_of_an_image_moves_towards_its_partner_by_the_share) {
  for (uint64_t key = 0; key < 40; ++key) {
    const Tensors mixed = mix("", key);
    const at::Tensor means = mixed.at("image").mean(at::IntArrayRef({1, 2, 3}));
    for (int64_t n = 0; n + 1 < kSamples; ++n) {
      EXPECT_NEAR(means[n].item<double>(), static_cast<double>(n) + 1 - share(mixed), 1e-5) << key;
    }
  }
}

TEST_P(BatchMixing, leaves_its_input_alone_and_repeats_itself) {
  const Tensors in = batch();
  const at::Tensor before = in.at("image").clone();
  const Tensors once = mix("", 9, in);
  EXPECT_TRUE(in.at("image").equal(before));
  EXPECT_TRUE(once.at("image").equal(mix("", 9).at("image")));
  EXPECT_FALSE(once.at("image").equal(mix("", 10).at("image")));
}

TEST_P(BatchMixing, with_p_0_only_labels_change_their_form) {
  const Tensors mixed = mix(R"(,"p":0)", 3);
  EXPECT_TRUE(mixed.at("image").equal(batch().at("image")));
  EXPECT_EQ(share(mixed), 1);
}

TEST_P(BatchMixing, a_strength_that_grows_mixes_more_often_epoch_by_epoch) {
  const auto mixed = [&](const std::string& more, int64_t epoch) {
    int count = 0;
    for (uint64_t key = 0; key < 400; ++key) {
      const Tensors made = mix(more, key, batch(), {epoch, 9});
      count += made.at("image").equal(batch().at("image")) ? 0 : 1;
    }
    return count;
  };
  const int all = mixed("", 0);  // but those whose rectangle has no area
  EXPECT_GT(all, 300);
  EXPECT_EQ(mixed(R"(,"grow":4)", 0), 0);
  EXPECT_NEAR(mixed(R"(,"grow":4)", 1), all * 0.25, 45);  // 5 standard deviations
  EXPECT_NEAR(mixed(R"(,"grow":4,"p":0.5)", 2), all * 0.25, 45);
  EXPECT_NEAR(mixed(R"(,"grow":4)", 3), all * 0.75, 45);
  EXPECT_EQ(mixed(R"(,"grow":4)", 4), all);
  EXPECT_EQ(mixed(R"(,"grow":4)", 8), all);
}

TEST_P(BatchMixing, a_batch_of_one_sample_is_mixed_with_itself) {
  const Tensors mixed = mix("", 4, batch(1));
  EXPECT_LT((mixed.at("image") - batch(1).at("image")).abs().max().item<double>(), 1e-6);
  EXPECT_NEAR(share(mixed), 1, 1e-6);
}

TEST_P(BatchMixing, shares_have_the_mean_and_the_spread_of_the_beta_distribution) {
  if (std::string(GetParam()) != "batch_mixup") GTEST_SKIP() << "the area of a rectangle is cut at the border";
  for (const double alpha : {0.2, 1.0, 2.5}) {
    double sum = 0;
    double squares = 0;
    constexpr int kDraws = 2000;
    for (int i = 0; i < kDraws; ++i) {
      const double each = share(mix(",\"alpha\":" + std::to_string(alpha), static_cast<uint64_t>(i)));
      sum += each;
      squares += each * each;
    }
    const double mean = sum / kDraws;
    EXPECT_NEAR(mean, 0.5, 0.035) << alpha;
    EXPECT_NEAR(squares / kDraws - mean * mean, 1 / (4 * (2 * alpha + 1)), 0.012) << alpha;
  }
}

TEST_P(BatchMixing, a_batch_without_samples_stays_without) {
  const Tensors mixed = mix("", 4, batch(0));
  EXPECT_EQ(mixed.at("image").sizes(), at::IntArrayRef({0, 3, 8, 10}));
  EXPECT_EQ(mixed.at("label").sizes(), at::IntArrayRef({0, 3}));
}

TEST_P(BatchMixing, every_alpha_that_may_be_given_ends_in_a_share) {
  for (const char* const alpha : {"0.001", "0.999", "1.001", "1000"}) {
    for (uint64_t key = 0; key < 50; ++key) {
      const double found = share(mix(std::string(",\"alpha\":") + alpha, key));
      EXPECT_TRUE(found >= 0 && found <= 1) << alpha << " gives " << found;
    }
  }
  for (const char* const alpha : {"0", "5e-324", "1e200"}) {
    const Error error = error_of([&] { (void)mix(std::string(",\"alpha\":") + alpha, 1); });
    EXPECT_EQ(error.pointer(), "/alpha") << alpha;
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
  }
}

TEST_P(BatchMixing, a_label_that_is_no_class_is_named) {
  try {
    (void)mix("", 1, {{"image", at::zeros({2, 3, 4, 4})}, {"label", at::tensor({1, 3}, at::kLong)}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "label 3 is no class: there are 3");
    EXPECT_EQ(error.code(), ErrorCode::kData);
  }
}

TEST_P(BatchMixing, fields_of_another_kind_are_refused_with_the_parameter_to_blame) {
  const auto made = make<Transform>("tenon_batch_transforms", GetParam(), R"({"classes":3})");
  const FieldSpec image{"image", Dtype::kFloat32, {"N", 3, 8, 8}};
  const FieldSpec label{"label", Dtype::kInt64, {"N"}};
  const auto pointer = [&](const Spec& in) {
    try {
      (void)made->spec(in);
    } catch (const Error& error) {
      return error.pointer();
    }
    return std::string("none");
  };
  EXPECT_EQ(pointer({image, label}), "none");
  EXPECT_EQ(pointer({{"image", Dtype::kUint8, {"N", 8, 8, 3}}, label}), "/image");
  EXPECT_EQ(pointer({image, {"label", Dtype::kFloat32, {"N", 3}}}), "/label");
}

INSTANTIATE_TEST_SUITE_P(, BatchMixing, testing::Values("batch_mixup", "batch_cutmix"),
                         [](const auto& name) { return std::string(name.param); });

}  // namespace
}  // namespace tenon::test
