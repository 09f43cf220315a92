// loss:mse against the formula written out in float64, and what it refuses.
#include <limits>

#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/distributed.hpp>
#include <tenon/components/loss.hpp>

namespace tenon::test {
namespace {

class MseTest : public ::testing::Test {
 protected:
  at::Tensor drawn(const std::vector<int64_t>& shape, at::ScalarType dtype = at::kDouble) {
    return at::randn(shape, random_, at::TensorOptions(at::kDouble)).to(dtype);
  }

  at::Tensor sum(const Tensors& in) {
    StepContext context(single_->join(), 0, true, 1, at::Generator());
    return mse_->sum(in, context);
  }

  static const double* data(const at::Tensor& tensor) { return tensor.const_data_ptr<double>(); }

  at::Generator random_ = at::detail::createCPUGenerator(5);
  Made<Distributed> single_ = make<Distributed>("tenon_distributed", "single");
  Made<Loss> mse_ = make<Loss>("tenon_losses", "mse");
};

TEST_F(MseTest, IsTheFormulaWithItsGradient) {
  const std::vector<std::vector<int64_t>> shapes{{1}, {7}, {5, 1}, {5, 3}, {2, 3, 4, 5}};
  for (const std::vector<int64_t>& shape : shapes) {
    for (const bool weighted : {false, true}) {
      const at::Tensor prediction = drawn(shape).requires_grad_(true);
      const at::Tensor target = drawn(shape);
      const at::Tensor weight = drawn({shape[0]}).abs();
      Tensors in{{"prediction", prediction}, {"target", target}};
      if (weighted) in.set("weight", weight);
      const int64_t elements = prediction.numel() / shape[0];
      double expected = 0;
      at::Tensor gradient = at::empty_like(target);
      for (int64_t i = 0; i < prediction.numel(); ++i) {
        const double share = (weighted ? data(weight)[i / elements] : 1) / static_cast<double>(elements);
        const double difference = data(prediction)[i] - data(target)[i];
        expected += share * difference * difference;
        gradient.mutable_data_ptr<double>()[i] = 2 * share * difference;
      }
      mse_ = make<Loss>("tenon_losses", "mse");
      const at::Tensor ours = sum(in);
      ours.backward();
      EXPECT_EQ(ours.dim(), 0);
      EXPECT_NEAR(ours.item<double>(), expected, 1e-12 * expected);
      EXPECT_TRUE(at::allclose(prediction.grad(), gradient, 1e-12, 1e-14));
    }
  }
}

TEST_F(MseTest, WeighsSamplesOnceOrByTheirWeights) {
  EXPECT_EQ(mse_->weight({{"target", drawn({5, 3})}}).item<double>(), 5);
  const at::Tensor weight = at::tensor({0.5, 0.0, 2.0}, at::TensorOptions(at::kFloat));
  EXPECT_EQ(mse_->weight({{"target", drawn({3, 2})}, {"weight", weight}}).item<double>(), 2.5);
  EXPECT_EQ(mse_->weight({{"weight", weight}}).scalar_type(), at::kDouble);
}

TEST_F(MseTest, SumAndWeightAddOverMicroBatches) {
  const at::Tensor prediction = drawn({6, 3});
  const at::Tensor target = drawn({6, 3});
  const at::Tensor weight = drawn({6}).abs();
  const auto part = [&](int64_t from, int64_t count) {
    return Tensors{{"prediction", prediction.narrow(0, from, count)},
                   {"target", target.narrow(0, from, count)},
                   {"weight", weight.narrow(0, from, count)}};
  };
  double sums = 0;
  double weights = 0;
  for (const auto& [from, count] : {std::pair<int64_t, int64_t>{0, 1}, {1, 3}, {4, 2}}) {
    sums += sum(part(from, count)).item<double>();
    weights += mse_->weight(part(from, count)).item<double>();
  }
  EXPECT_NEAR(sums, sum(part(0, 6)).item<double>(), 1e-12);
  EXPECT_NEAR(weights, mse_->weight(part(0, 6)).item<double>(), 1e-12);
}

TEST_F(MseTest, SumsInThePredictionsTypeAndTypesOfSixteenBitsInFloat32) {
  for (const auto& [dtype, expected] : {std::pair{at::kDouble, at::kDouble},
                                        {at::kFloat, at::kFloat},
                                        {at::kHalf, at::kFloat},
                                        {at::kBFloat16, at::kFloat}}) {
    const at::Tensor prediction = at::full({300, 2}, 20, at::TensorOptions(dtype));
    const at::Tensor ours = sum({{"prediction", prediction}, {"target", at::zeros({300, 2})}});
    EXPECT_EQ(ours.scalar_type(), expected);
    EXPECT_EQ(ours.item<double>(), 120000) << dtype;  // beyond what float16 holds
  }
}

TEST_F(MseTest, RefusesShapesThatDifferAndNamesBoth) {
  const std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> shapes{
      {{4, 1}, {3}}, {{4}, {4, 3}}, {{4, 3}, {4, 1}}, {{4, 3}, {1, 3}}, {{4, 3}, {3}}, {{4, 2, 3}, {4, 3, 2}}};
  for (const auto& [prediction, target] : shapes) {
    const Tensors in{{"prediction", drawn(prediction)}, {"target", drawn(target)}};
    const Error error = error_of([&] { (void)sum(in); });
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    const auto text = [](const std::vector<int64_t>& shape) {
      std::string list;
      for (const int64_t size : shape) list += (list.empty() ? "" : ", ") + std::to_string(size);
      return "[" + list + "]";
    };
    EXPECT_NE(std::string(error.what()).find("prediction " + text(prediction)), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("target " + text(target)), std::string::npos) << error.what();
  }
}

TEST_F(MseTest, RefusesWeightsThatAreNotOneASample) {
  for (const std::vector<int64_t>& shape : std::vector<std::vector<int64_t>>{{3}, {4, 1}, {1}, {}}) {
    const Error error = error_of([&] {
      (void)sum({{"prediction", drawn({4, 2})}, {"target", drawn({4, 2})}, {"weight", drawn(shape).abs()}});
    });
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    EXPECT_NE(std::string(error.what()).find("prediction [4, 2]"), std::string::npos) << error.what();
  }
}

TEST_F(MseTest, RefusesWeightsThatAreNegativeOrNotFinite) {
  for (const double wrong : {-0.5, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const at::Tensor weight = at::tensor({1.0, 2.0, wrong}, at::TensorOptions(at::kDouble));
    const Error error = error_of([&] { (void)mse_->weight({{"weight", weight}}); });
    EXPECT_EQ(error.code(), ErrorCode::kData);
    EXPECT_NE(std::string(error.what()).find("sample 2"), std::string::npos) << error.what();
  }
}

TEST_F(MseTest, RefusesWeightsThatAreNotKnownBeforeTheForwardPass) {
  const Tensors in{{"prediction", drawn({4})}, {"target", drawn({4})}, {"weight", drawn({4}).abs()}};
  const Tensors batch{{"target", drawn({4})}};
  EXPECT_EQ(sum(in).dim(), 0);
  const Error after = error_of([&] { (void)mse_->weight(batch); });
  EXPECT_NE(std::string(after.what()).find("\"weight\" to a field of the batch"), std::string::npos) << after.what();
  mse_ = make<Loss>("tenon_losses", "mse");
  EXPECT_EQ(mse_->weight(batch).item<double>(), 4);
  EXPECT_EQ(error_of([&] { (void)sum(in); }).code(), ErrorCode::kConfig);
}

TEST_F(MseTest, CountsSamplesWhereNothingOfTheBatchIsWired) { EXPECT_FALSE(mse_->weight({}).defined()); }

TEST_F(MseTest, TakesAnAxisOfOneForNone) {
  const at::Tensor prediction = drawn({5, 1});
  const at::Tensor target = drawn({5});
  const auto expected = sum({{"prediction", prediction.squeeze(1)}, {"target", target}}).item<double>();
  EXPECT_EQ(sum({{"prediction", prediction}, {"target", target}}).item<double>(), expected);
  EXPECT_EQ(sum({{"prediction", target}, {"target", prediction}}).item<double>(), expected);
}

TEST(Mse, SaysThatPredictionsAreInTheUnitsOfTheirTargets) {
  EXPECT_NE(std::string(descriptor("tenon_losses", "mse").describe()).find(R"("like":"target","name":"prediction")"),
            std::string::npos);
}

TEST_F(MseTest, IsPlannedOnTheMetaDevice) {
  const at::TensorOptions meta = at::TensorOptions(at::kFloat).device(at::kMeta);
  const Tensors in{
      {"prediction", at::empty({4, 2}, meta)}, {"target", at::empty({4, 2}, meta)}, {"weight", at::empty({4}, meta)}};
  EXPECT_EQ(sum(in).dim(), 0);
  EXPECT_EQ(mse_->weight(in).dim(), 0);
}

TEST_F(MseTest, TakesNoParameters) {
  const Error error = error_of([] { (void)make<Loss>("tenon_losses", "mse", R"({"reduction": "sum"})"); });
  EXPECT_EQ(error.pointer(), "/reduction");
}

}  // namespace
}  // namespace tenon::test
