// The harness over ATen: gradients, ranks, optimizers, exported files.
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <tenon/components/exporter.hpp>
#include <tenon/components/metric.hpp>
#include <tenon/harness/exporters.hpp>
#include <tenon/harness/gradients.hpp>
#include <tenon/harness/gtest.hpp>
#include <tenon/harness/losses.hpp>
#include <tenon/harness/network.hpp>
#include <tenon/harness/param_groups.hpp>
#include <tenon/harness/ranks.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/registration.hpp>

namespace tenon::harness {
namespace {

at::Tensor doubles(std::vector<double> values) { return at::tensor(values, at::TensorOptions(at::kDouble)); }

/// x², with a factor on its gradient, and a target that is detached.
class Square final : public Loss {
 public:
  explicit Square(double factor = 1) : factor_(factor) {}
  [[nodiscard]] at::Tensor weight(const Tensors& /*batch_in*/) override { return {}; }
  [[nodiscard]] at::Tensor sum(const Tensors& in, StepContext& /*context*/) override {
    const at::Tensor& x = in.at("x");
    at::Tensor sum = (x.square().detach() + factor_ * (x.square() - x.square().detach())).sum();
    if (const at::Tensor* const target = in.find("target")) sum = sum + target->detach().sum();
    return sum;
  }

 private:
  double factor_;
};

TEST(HarnessGradients, AgreeForACorrectLoss) {
  Square square;
  EXPECT_TRUE(check_gradients(square, {{"x", at::tensor({1.0F, -2.0F, 0.5F})}}).empty());
}

TEST(HarnessGradients, NameTheElementThatIsWrong) {
  Square square(0.5);
  const auto faults = check_gradients(square, {{"x", doubles({3})}});
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].name, "x");
  EXPECT_NEAR(faults[0].analytic, 3, 1e-9);
  EXPECT_NEAR(faults[0].numeric, 6, 1e-4);
  EXPECT_NE(to_string(faults[0]).find("x[0]: backward says 3"), std::string::npos);
}

TEST(HarnessGradients, LeaveOutADetachedTargetOfALossButNoInputOfAFunction) {
  Square square;
  EXPECT_TRUE(check_gradients(square, {{"x", doubles({1})}, {"target", doubles({1})}}).empty());
  const at::Tensor x = doubles({1}).requires_grad_(true);
  EXPECT_EQ(check_gradients([&] { return x.detach().sum() + 0 * x.sum(); }, {{"x", x}}).size(), 1U);
}

TEST(HarnessGradients, LeaveOutKinks) {
  const at::Tensor x = doubles({0, 1, -1}).requires_grad_(true);
  EXPECT_TRUE(check_gradients([&] { return at::relu(x).sum(); }, {{"x", x}}).empty());
}

TEST(HarnessLosses, RefuseWhatIsNoScalar) {
  class Vector final : public Loss {
   public:
    [[nodiscard]] at::Tensor weight(const Tensors& in) override { return in.at("x"); }
    [[nodiscard]] at::Tensor sum(const Tensors& in, StepContext& /*context*/) override { return in.at("x"); }
  };
  Vector loss;
  const Tensors in{{"x", doubles({1, 2})}};
  EXPECT_TRUE(refused([&] { (void)sum_of(loss, in); }, ErrorCode::kPlugin, "", "0-dim"));
  EXPECT_TRUE(refused([&] { (void)weight_of(loss, in, 2); }, ErrorCode::kPlugin, "", "0-dim"));
  Square square;
  EXPECT_EQ(weight_of(square, in, 2), 2);
}

/// The mean over all samples of all ranks; `merges` as it should.
class Mean final : public Metric {
 public:
  explicit Mean(const NoParams& /*params*/) {}
  void reset() override { sums_ = at::zeros({2}, at::TensorOptions(at::kDouble)); }
  void update(const Tensors& in) override {
    sums_ = sums_ + at::stack({in.at("x").sum(), at::ones_like(in.at("x")).sum()});
  }
  [[nodiscard]] std::vector<double> compute(Collectives& ranks) override {
    at::Tensor sums = sums_.clone();
    ranks.all_reduce(sums, Collectives::Op::kSum);
    return {(sums[0] / sums[1]).item<double>()};
  }

 private:
  at::Tensor sums_;
};

/// Never asks the other ranks.
class Alone final : public Metric {
 public:
  explicit Alone(const NoParams& /*params*/) {}
  void reset() override { last_ = 0; }
  void update(const Tensors& in) override { last_ = in.at("x").sum().item<double>(); }
  [[nodiscard]] std::vector<double> compute(Collectives& /*ranks*/) override { return {last_}; }

 private:
  double last_ = 0;
};

const std::vector<Tensors>& batches() {
  static const std::vector<Tensors> all{{{"x", doubles({1, 2, 3})}}, {{"x", doubles({4})}}, {{"x", doubles({5, 9})}}};
  return all;
}

TEST(HarnessRanks, MergeAMetricAsOneRankDoes) {
  const auto mean = make<Metric>("mean");
  EXPECT_EQ(values_of(*mean, batches()), (std::vector<double>{4}));
  for (const int64_t world : {1, 2, 3, 5}) {
    EXPECT_EQ(values_over_ranks(
                  world, [] { return make<Metric>("mean"); }, batches()),
              (std::vector<double>{4}));
  }
}

TEST(HarnessRanks, FindAMetricThatAsksNobody) {
  const auto deal = [] {
    (void)values_over_ranks(
        2, [] { return make<Metric>("alone"); }, batches());
  };
  EXPECT_TRUE(refused(deal, ErrorCode::kPlugin, "", "different values"));
}

TEST(HarnessRanks, HaveAllCollectives) {
  on_ranks(3, [](Collectives& ranks) {
    const auto mine = static_cast<double>(ranks.rank());
    at::Tensor sum = doubles({mine});
    at::Tensor least = doubles({mine});
    at::Tensor most = doubles({mine});
    ranks.all_reduce(sum, Collectives::Op::kSum);
    ranks.all_reduce(least, Collectives::Op::kMin);
    ranks.all_reduce(most, Collectives::Op::kMax);
    at::Tensor root = doubles({mine});
    ranks.broadcast(root, 1);
    ranks.barrier();
    const auto all = ranks.all_gather(doubles({mine}));
    const bool right = sum.item<double>() == 3 && least.item<double>() == 0 && most.item<double>() == 2 &&
                       root.item<double>() == 1 && all.size() == 3 && all[2].item<double>() == 2;
    if (!right) throw std::runtime_error("a collective is wrong");
  });
}

TEST(HarnessRanks, RethrowTheCauseAndHangNowhere) {
  const auto fails = [] {
    on_ranks(3, [](Collectives& ranks) {
      if (ranks.rank() == 2) throw Error(ErrorCode::kData, "rank 2 has no data");
      ranks.barrier();
    });
  };
  EXPECT_TRUE(refused(fails, ErrorCode::kData, "", "rank 2"));
}

class Plain final : public Optimizer {
 public:
  void attach(std::span<const ParamGroup> groups) override { groups_ = groups; }
  void step(const Update& /*update*/) override {
    for (const ParamGroup& group : groups_) at::Tensor(group.flat_param).sub_(group.flat_grad, group.hyper("lr").value);
  }

 private:
  std::span<const ParamGroup> groups_;
};

TEST(HarnessOptimizers, StepTheSameWayWhereverTheyBegin) {
  auto whole = two_groups(at::kDouble, {{"lr", 0.1}}, {{"lr", 0.2}});
  auto parts = two_groups(at::kDouble, {{"lr", 0.1}}, {{"lr", 0.2}});
  Plain first;
  Plain second;
  first.attach(whole);
  second.attach(parts);
  steps(first, whole, 0, 5);
  steps(second, parts, 0, 2);
  steps(second, parts, 2, 5);
  EXPECT_TRUE(at::equal(whole[1].flat_param, parts[1].flat_param));
  set_hyper(parts[0], "lr", 0);
  const at::Tensor before = parts[0].flat_param.clone();
  steps(second, parts, 5, 6);
  EXPECT_TRUE(at::equal(before, parts[0].flat_param));
  EXPECT_TRUE(refused([&] { set_hyper(parts[0], "momentum", 1); }, ErrorCode::kPlugin, "", "momentum"));
}

/// One layer; `eager` takes memory where it may only declare.
class Line final : public Model {
 public:
  explicit Line(bool eager = false) : eager_(eager) {}
  void build(const Spec& /*in*/) override {
    network_ = std::make_unique<Network>();
    if (eager_) materialize(*network_, 1);
  }
  [[nodiscard]] nn::Module& root() override { return *network_; }

 private:
  class Network final : public nn::Module {
   public:
    Tensors forward(const Tensors& in, StepContext& context) override { return {{"y", layer_(in.at("x"), context)}}; }

   private:
    nn::Linear layer_{this, "layer", 2, 3};
  };
  bool eager_;
  std::unique_ptr<Network> network_;
};

TEST(HarnessModels, AreBuiltRunAndCheckedInFloat64) {
  Line line;
  build(line, {{"x", Dtype::kFloat32, {"N", 2}}}, 1, at::kDouble);
  EXPECT_EQ(param_names(line.root()), (std::vector<std::string>{"layer.weight", "layer.bias"}));
  EXPECT_EQ(run(line.root(), {{"x", at::ones({4, 2}, at::TensorOptions(at::kDouble))}}, true).at("y").sizes(),
            (at::IntArrayRef{4, 3}));
  EXPECT_TRUE(check_gradients(line, {{"x", at::rand({4, 2})}}).empty());
}

TEST(HarnessModels, MayNotTakeMemoryWhileTheyAreBuilt) {
  Line line(true);
  EXPECT_TRUE(refused([&] { build(line, {}); }, ErrorCode::kPlugin, "", "layer.weight"));
}

/// Keeps the model and adds an error to what it gives.
class Recalls final : public Exporter {
 public:
  explicit Recalls(double error) : error_(error) {}
  [[nodiscard]] std::string extension() const override { return ".txt"; }
  [[nodiscard]] const Verify& verify() const override { return verify_; }
  void write(Model& model, const Tensors& /*example*/, const std::vector<std::string>& /*outputs*/,
             const std::filesystem::path& /*file*/) override {
    model_ = &model;
  }
  [[nodiscard]] std::unique_ptr<Runnable> open(const std::filesystem::path& /*file*/) override {
    class Live final : public Runnable {
     public:
      Live(Model& model, double error) : model_(model), error_(error) {}
      [[nodiscard]] Tensors run(const Tensors& in) override {
        return {{"y", harness::run(model_.root(), in, false).at("y") + error_}};
      }

     private:
      Model& model_;
      double error_;
    };
    return std::make_unique<Live>(*model_, error_);
  }

 private:
  double error_;
  Verify verify_;
  Model* model_ = nullptr;
};

TEST(HarnessExporters, AreComparedAtEachBatchSize) {
  Line line;
  build(line, {{"x", Dtype::kFloat32, {"N", 2}}});
  const Tensors example{{"x", at::rand({5, 2})}};
  Recalls good(0);
  EXPECT_TRUE(export_differences(good, line, example, "unused").empty());
  Recalls bad(0.01);
  const auto differences = export_differences(bad, line, example, "unused");
  ASSERT_EQ(differences.size(), 3U);
  EXPECT_NE(differences[2].find("at a batch of 17"), std::string::npos) << differences[2];
}

}  // namespace

TENON_COMPONENT(Mean, NoParams, "mean", "The mean of x")
TENON_COMPONENT(Alone, NoParams, "alone", "The sum of the last batch of this rank")

}  // namespace tenon::harness
