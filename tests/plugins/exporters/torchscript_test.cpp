// exporter:torchscript: the file alone gives what the live model gives, at sizes that were never traced.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include <c10/core/GradMode.h>
#include <unistd.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/exporter.hpp>
#include <tenon/components/model.hpp>
#include <tenon/harness/network.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/shape.hpp>

namespace tenon::test {
namespace {

namespace fs = std::filesystem;

class TorchscriptTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path file() const { return folder_ / "net.pt"; }

  static Made<Exporter> exporter(const std::string& params = "{}") {
    return make<Exporter>("tenon_exporters", "torchscript", params);
  }

  /// Compares the file with the live model at these batch sizes, input shape without the batch.
  void expect_equal(Model& model, const std::string& input, const std::vector<int64_t>& shape) {
    const c10::NoGradGuard no_grad;
    const auto loaded = exporter()->open(file());
    for (const int64_t batch : {1, 3, 17}) {
      std::vector<int64_t> sizes{batch};
      sizes.insert(sizes.end(), shape.begin(), shape.end());
      const Tensors in{{input, at::randn(sizes)}};
      const Tensors expected = run(model.root(), single_->join(), in, false);
      const Tensors got = loaded->run(in);
      ASSERT_EQ(got.size(), expected.size());
      for (const auto& [name, tensor] : expected)
        EXPECT_TRUE(at::equal(got.at(name), tensor)) << name << " at " << batch;
    }
  }

  const fs::path folder_ = fs::temp_directory_path() / ("tenon_torchscript_" + std::to_string(::getpid()));
  Made<Distributed> single_ = make<Distributed>("tenon_distributed", "single");
};

/// Two outputs, a reshape with a traced size, and weights that are views of one large buffer.
class TwoHeads final : public Model {
 public:
  class Net final : public nn::Module {
   public:
    Net() : first_(this, "first", 6, 4), second_(this, "second", 4, 2) {}
    bool fails = false;

   protected:
    Tensors forward(const Tensors& in, StepContext& context) override {
      const at::Tensor& x = in.at("points");
      const at::Tensor hidden = first_(nn::reshape(x, {nn::size_of(x, 0), 6}), context);
      if (fails) throw Error(ErrorCode::kData, "planned failure");
      return {{"hidden", hidden}, {"score", second_(at::relu(hidden), context)}};
    }

   private:
    nn::Linear first_;
    nn::Linear second_;
  };

  void build(const Spec& /*in*/) override {}
  [[nodiscard]] Net& root() override { return net_; }

  Net net_;
};

at::Tensor into_one_buffer(nn::Module& root) {
  materialize(root, 5);
  at::Tensor buffer = at::zeros({1 << 20});
  int64_t offset = 0;
  root.visit_params([&](const std::string& /*name*/, nn::Param& slot) {
    at::Tensor view = buffer.narrow(0, offset, slot.value().numel()).view(slot.value().sizes());
    view.copy_(slot.value().detach());
    slot.set(view);
    offset += view.numel() + 16;
  });
  return buffer;
}

std::vector<const void*> addresses(nn::Module& root) {
  std::vector<const void*> all;
  root.visit_params([&](const std::string& /*name*/, nn::Param& slot) { all.push_back(slot.value().data_ptr()); });
  return all;
}

TEST_F(TorchscriptTest, ConvolutionsGiveTheSameAtOtherBatchSizes) {
  const auto model = make<Model>("tenon_models", "cnn", R"({"classes": 10, "width": 4})");
  model->build({{"image", Dtype::kFloat32, {"N", 1, 8, 8}}});
  materialize(model->root(), 2);
  model->root().visit_buffers([](const std::string& name, nn::Buffer& slot) {
    if (name.ends_with("running_mean")) slot.set(at::linspace(-0.5, 0.5, slot.value().numel()));
  });
  exporter()->write(*model, {{"image", at::randn({2, 1, 8, 8})}}, {"logits"}, file());
  expect_equal(*model, "image", {1, 8, 8});
}

TEST_F(TorchscriptTest, FlattenedInputsGiveTheSameAtOtherBatchSizes) {
  const auto model = make<Model>("tenon_models", "mlp", R"({"classes": 3, "hidden": [5], "dropout": 0.5})");
  model->build({{"image", Dtype::kFloat32, {"N", 2, 3}}});
  materialize(model->root(), 2);
  exporter()->write(*model, {{"image", at::randn({4, 2, 3})}}, {"logits"}, file());
  expect_equal(*model, "image", {2, 3});
}

TEST_F(TorchscriptTest, SeveralOutputsComeByName) {
  TwoHeads model;
  materialize(model.net_, 5);
  exporter()->write(model, {{"points", at::randn({2, 2, 3})}}, {"hidden", "score"}, file());
  expect_equal(model, "points", {2, 3});
}

TEST_F(TorchscriptTest, AFewOutputsCanBeLeftOut) {
  TwoHeads model;
  materialize(model.net_, 5);
  exporter()->write(model, {{"points", at::randn({2, 2, 3})}}, {"score"}, file());
  const Tensors out = exporter()->open(file())->run({{"points", at::randn({5, 2, 3})}});
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(out.at("score").sizes(), (at::IntArrayRef{5, 2}));
}

TEST_F(TorchscriptTest, CopiesWeightsAndNotTheBufferBehindThem) {
  TwoHeads model;
  const at::Tensor buffer = into_one_buffer(model.net_);
  exporter()->write(model, {{"points", at::randn({2, 2, 3})}}, {"hidden", "score"}, file());
  EXPECT_LT(fs::file_size(file()), 20000U);
  const Tensors in{{"points", at::randn({3, 2, 3})}};
  const auto loaded = exporter()->open(file());
  const at::Tensor before = loaded->run(in).at("score");
  buffer.zero_();
  EXPECT_TRUE(at::equal(loaded->run(in).at("score"), before));
}

TEST_F(TorchscriptTest, LeavesTheModelAsItWas) {
  TwoHeads model;
  const at::Tensor buffer = into_one_buffer(model.net_);
  const auto before = addresses(model.net_);
  exporter()->write(model, {{"points", at::randn({2, 2, 3})}}, {"score"}, file());
  EXPECT_EQ(addresses(model.net_), before);
}

TEST_F(TorchscriptTest, AFailingModelIsNamedAndNothingStaysBehind) {
  TwoHeads model;
  materialize(model.net_, 5);
  const auto before = addresses(model.net_);
  model.net_.fails = true;
  const Tensors example{{"points", at::randn({2, 2, 3})}};
  const Error own = error_of([&] { exporter()->write(model, example, {"score"}, file()); });
  EXPECT_EQ(own.code(), ErrorCode::kVerification);
  EXPECT_NE(std::string(own.what()).find("planned failure"), std::string::npos) << own.what();
  EXPECT_EQ(addresses(model.net_), before);
  EXPECT_FALSE(fs::exists(file()));

  model.net_.fails = false;
  const Error libtorchs = error_of([&] {
    exporter()->write(model, {{"points", at::randn({2, 5})}}, {"score"}, file());
  });
  EXPECT_EQ(libtorchs.code(), ErrorCode::kVerification);
  EXPECT_EQ(std::string(libtorchs.what()).find("Exception raised from"), std::string::npos) << libtorchs.what();
  exporter()->write(model, example, {"score"}, file());
  EXPECT_EQ(exporter()->open(file())->run(example).at("score").sizes(), (at::IntArrayRef{2, 2}));
}

TEST_F(TorchscriptTest, RefusesDynamicAxesThatAreNotThere) {
  TwoHeads model;
  materialize(model.net_, 5);
  const Tensors example{{"points", at::randn({2, 2, 3})}};
  const auto failed = [&](const std::string& dynamic) {
    return error_of([&] { exporter(R"({"dynamic": )" + dynamic + "}")->write(model, example, {"score"}, file()); });
  };
  EXPECT_EQ(failed(R"({"point": [0]})").pointer(), "/dynamic/point");
  EXPECT_NE(std::string(failed(R"({"point": [0]})").what()).find("points"), std::string::npos);
  EXPECT_EQ(failed(R"({"points": [3]})").pointer(), "/dynamic/points");
  EXPECT_EQ(failed(R"({"points": [-1]})").pointer(), "/dynamic/points");
}

TEST_F(TorchscriptTest, RefusesFilesThatItDidNotWrite) {
  EXPECT_EQ(error_of([&] { (void)exporter()->open(file()); }).code(), ErrorCode::kVerification);
  std::ofstream(file()) << "no archive";
  EXPECT_EQ(error_of([&] { (void)exporter()->open(file()); }).code(), ErrorCode::kVerification);
  TwoHeads model;
  materialize(model.net_, 5);
  exporter()->write(model, {{"points", at::randn({2, 2, 3})}}, {"score"}, file());
  fs::resize_file(file(), fs::file_size(file()) / 2);
  EXPECT_EQ(error_of([&] { (void)exporter()->open(file()); }).code(), ErrorCode::kVerification);
}

TEST_F(TorchscriptTest, AFolderThatIsNotThereIsAStorageError) {
  TwoHeads model;
  materialize(model.net_, 5);
  const Error error = error_of([&] {
    exporter()->write(model, {{"points", at::randn({2, 2, 3})}}, {"score"}, folder_ / "missing" / "net.pt");
  });
  EXPECT_EQ(error.code(), ErrorCode::kStorage);
}

TEST_F(TorchscriptTest, TellsWhatTheGateShallCheck) {
  const auto made = exporter(R"({"verify": {"batch": [2, 5], "rtol": 0.01}})");
  EXPECT_EQ(made->verify().batch, (std::vector<int64_t>{2, 5}));
  EXPECT_EQ(made->verify().rtol, 0.01);
  EXPECT_EQ(made->extension(), ".pt");
  EXPECT_EQ(error_of([&] { (void)exporter(R"({"verify": {"batch": []}})"); }).pointer(), "/verify/batch");
}

}  // namespace
}  // namespace tenon::test
