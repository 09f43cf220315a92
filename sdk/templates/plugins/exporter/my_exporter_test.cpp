// MyExporter: the file alone computes what the live model computes, and the model stays as it is.
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include <tenon/components/exporter.hpp>
#include <tenon/harness/components.hpp>
#include <tenon/harness/exporters.hpp>
#include <tenon/harness/gtest.hpp>
#include <tenon/harness/network.hpp>
#include <tenon/nn/linear.hpp>

namespace {

using tenon::harness::make;
using tenon::harness::refused;

/// A model of this test's own, with two outputs.
class TwoOutputs final : public tenon::Model {
 public:
  void build(const tenon::Spec& /*in*/) override { network_ = std::make_unique<Network>(); }
  [[nodiscard]] tenon::nn::Module& root() override { return *network_; }

 private:
  class Network final : public tenon::nn::Module {
   protected:
    tenon::Tensors forward(const tenon::Tensors& in, tenon::StepContext& context) override {
      const at::Tensor hidden = at::relu(first_(in.at("x"), context));
      return {{"hidden", hidden}, {"y", second_(hidden, context)}};
    }

   private:
    tenon::nn::Linear first_{this, "first", 6, 5};
    tenon::nn::Linear second_{this, "second", 5, 3};
  };
  std::unique_ptr<Network> network_;
};

class MyExporterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove(file_);
    tenon::harness::build(model_, {{"x", tenon::Dtype::kFloat32, {"N", 6}}});
  }
  void TearDown() override { std::filesystem::remove(file_); }

  const std::filesystem::path file_ = std::filesystem::current_path() / "my_exporter_test.pt";  // ctest's build folder
  const tenon::Tensors example_{{"x", at::rand({5, 6})}};
  TwoOutputs model_;
};

TEST_F(MyExporterTest, TheFileComputesWhatTheModelComputesAtEveryBatchSize) {
  const auto exporter = make<tenon::Exporter>("my_exporter", R"({"verify": {"batch": [1, 4, 33]}})");
  EXPECT_EQ(tenon::harness::export_differences(*exporter, model_, example_, file_), std::vector<std::string>());
}

TEST_F(MyExporterTest, WritesOnlyTheOutputsThatAreAskedFor) {
  const auto exporter = make<tenon::Exporter>("my_exporter");
  exporter->write(model_, example_, {"y"}, file_);
  const tenon::Tensors out = exporter->open(file_)->run(example_);
  ASSERT_EQ(out.size(), 1U);
  EXPECT_TRUE(at::allclose(out.at("y"), tenon::harness::run(model_.root(), example_, false).at("y")));
}

TEST_F(MyExporterTest, TheFileKeepsTheWeightsThatItWasWrittenWith) {
  const auto exporter = make<tenon::Exporter>("my_exporter");
  exporter->write(model_, example_, {"y"}, file_);
  const at::Tensor before = tenon::harness::run(model_.root(), example_, false).at("y");
  for (const auto& [name, tensor] : tenon::harness::tensors_of(model_.root())) at::Tensor(tensor).zero_();
  EXPECT_TRUE(at::allclose(exporter->open(file_)->run(example_).at("y"), before));
}

TEST_F(MyExporterTest, NamesTheModuleThatCannotBeWritten) {
  const auto exporter = make<tenon::Exporter>("my_exporter");
  const tenon::Tensors too_wide{{"x", at::rand({5, 7})}};
  EXPECT_TRUE(refused([&] { exporter->write(model_, too_wide, {"y"}, file_); }, tenon::ErrorCode::kVerification, "",
                      "at its module \"first\""));
}

TEST_F(MyExporterTest, RefusesAFileThatItDidNotWrite) {
  std::ofstream(file_) << "no archive";
  const auto exporter = make<tenon::Exporter>("my_exporter");
  EXPECT_TRUE(refused([&] { (void)exporter->open(file_); }, tenon::ErrorCode::kVerification, "", "cannot be loaded"));
}

}  // namespace
