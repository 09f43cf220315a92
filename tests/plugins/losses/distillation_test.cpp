// loss:distillation against the formula written out in float64, and what it refuses.
#include <cmath>

#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/distributed.hpp>
#include <tenon/components/loss.hpp>

namespace tenon::test {
namespace {

class DistillationTest : public ::testing::Test {
 protected:
  void use(double temperature) {
    loss_ = make<Loss>("tenon_losses", "distillation", R"({"temperature": )" + std::to_string(temperature) + "}");
  }
  at::Tensor drawn(const std::vector<int64_t>& shape) {
    return at::randn(shape, random_, at::TensorOptions(at::kDouble)).mul_(3);
  }
  at::Tensor sum(const at::Tensor& student, const at::Tensor& teacher) {
    StepContext context(single_->join(), 0, true, 1, at::Generator());
    return loss_->sum({{"student", student}, {"teacher", teacher}}, context);
  }

  static std::vector<double> softmax(const double* x, int64_t classes, double temperature) {
    std::vector<double> p;
    double total = 0;
    for (int64_t c = 0; c < classes; ++c) total += p.emplace_back(std::exp(x[c] / temperature));
    for (double& each : p) each /= total;
    return p;
  }

  at::Generator random_ = at::detail::createCPUGenerator(5);
  Made<Distributed> single_ = make<Distributed>("tenon_distributed", "single");
  Made<Loss> loss_ = make<Loss>("tenon_losses", "distillation");
};

TEST_F(DistillationTest, IsTheFormulaWithItsGradientAndNoneForTheTeacher) {
  for (const double temperature : {0.5, 1.0, 4.0, 20.0}) {
    use(temperature);
    const at::Tensor student = drawn({5, 3}).requires_grad_(true);
    const at::Tensor teacher = drawn({5, 3}).requires_grad_(true);
    double expected = 0;
    at::Tensor gradient = at::empty_like(student).detach();
    for (int64_t n = 0; n < 5; ++n) {
      const std::vector<double> q = softmax(student.const_data_ptr<double>() + n * 3, 3, temperature);
      const std::vector<double> p = softmax(teacher.const_data_ptr<double>() + n * 3, 3, temperature);
      for (std::size_t c = 0; c < 3; ++c) {
        expected += temperature * temperature * p[c] * std::log(p[c] / q[c]);
        gradient.mutable_data_ptr<double>()[n * 3 + static_cast<int64_t>(c)] = temperature * (q[c] - p[c]);
      }
    }
    const at::Tensor ours = sum(student, teacher);
    ours.backward();
    EXPECT_EQ(ours.dim(), 0);
    EXPECT_NEAR(ours.item<double>(), expected, 1e-11 * expected);
    EXPECT_TRUE(at::allclose(student.grad(), gradient, 1e-10, 1e-12));
    EXPECT_FALSE(teacher.grad().defined());
  }
}

TEST_F(DistillationTest, IsNothingWhereBothAgree) {
  const at::Tensor logits = drawn({4, 3});
  EXPECT_NEAR(sum(logits, logits + 7).item<double>(), 0, 1e-13) << "a constant shifts no probability";
}

TEST_F(DistillationTest, WeighsEverySampleOnce) {
  EXPECT_FALSE(loss_->weight({}).defined());
  const at::Tensor student = drawn({6, 3});
  const at::Tensor teacher = drawn({6, 3});
  const double parts = sum(student.narrow(0, 0, 2), teacher.narrow(0, 0, 2)).item<double>() +
                       sum(student.narrow(0, 2, 4), teacher.narrow(0, 2, 4)).item<double>();
  EXPECT_NEAR(parts, sum(student, teacher).item<double>(), 1e-12);
}

TEST_F(DistillationTest, SumsTypesOfSixteenBitsInFloat32) {
  const at::Tensor half = drawn({4, 3}).to(at::kHalf);
  EXPECT_EQ(sum(half, drawn({4, 3})).scalar_type(), at::kFloat);
}

TEST_F(DistillationTest, NamesBothShapesThatDiffer) {
  for (const auto& shapes : std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>>{
           {{4, 3}, {4, 5}}, {{4, 3}, {3, 3}}, {{4}, {4}}}) {
    const Error error = error_of([&] { (void)sum(drawn(shapes.first), drawn(shapes.second)); });
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    EXPECT_NE(std::string(error.what()).find("student [4"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("teacher ["), std::string::npos) << error.what();
  }
}

TEST_F(DistillationTest, IsPlannedOnTheMetaDevice) {
  const at::TensorOptions meta = at::TensorOptions(at::kFloat).device(at::kMeta);
  EXPECT_EQ(sum(at::empty({4, 2}, meta), at::empty({4, 2}, meta)).dim(), 0);
}

TEST_F(DistillationTest, RefusesATemperatureOfZero) {
  EXPECT_EQ(error_of([&] { use(0); }).pointer(), "/temperature");
}

}  // namespace
}  // namespace tenon::test
