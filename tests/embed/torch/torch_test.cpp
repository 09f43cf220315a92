// A program that is linked to libtorch itself: one libtorch for both, and its settings stay the program's.
#include <embed/fixture.hpp>

#include <array>
#include <set>
#include <sstream>

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include <tenon/components/loss.hpp>

namespace tenon::kernel {
namespace {

/// Cross entropy, written by the program.
class OwnLoss final : public Loss {
 public:
  explicit OwnLoss(const NoParams& /*params*/) {}
  static Ports ports() {
    return {{Port::of("logits", {Dtype::kFloat32}, {"N", "C"}), Port::of("target", {Dtype::kInt64}, {"N"})}, {}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  [[nodiscard]] at::Tensor weight(const Tensors& /*batch_in*/) override { return {}; }
  [[nodiscard]] at::Tensor sum(const Tensors& in, StepContext& /*context*/) override {
    return at::cross_entropy_loss(in.at("logits"), in.at("target"), {}, at::Reduction::Sum);
  }
};

/// What a program may have set, and a training must not leave changed.
std::string settings_now() {
  const at::Context& context = at::globalContext();
  std::ostringstream text;
  text << context.deterministicAlgorithms() << context.deterministicAlgorithmsWarnOnly()
       << context.deterministicFillUninitializedMemory() << context.deterministicCuDNN() << context.benchmarkCuDNN()
       << " threads " << at::get_num_threads() << " gradients " << c10::GradMode::is_enabled() << " tf32";
  for (const at::Float32Op op : {at::Float32Op::MATMUL, at::Float32Op::CONV, at::Float32Op::RNN}) {
    text << ' ' << static_cast<int>(context.float32Precision(at::Float32Backend::CUDA, op));
  }
  return text.str();
}

/// Files of that name that are mapped into this process.
std::set<std::string> mapped(const std::string& name) {
  std::set<std::string> files;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t slash = line.find('/');
    if (slash != std::string::npos && line.ends_with("/" + name)) files.insert(line.substr(slash));
  }
  return files;
}

class TorchTest : public EmbedTest {};

TEST_F(TorchTest, AComponentOverTensorsOfTheProgramTrainsLikeThatOfAPlugin) {
  Components own("org.example.tensors");
  own.add<OwnLoss>("own", "Cross entropy of this program");
  const Runtime runtime({}, {own});
  const Result theirs = runtime.train(runtime.load(pipeline_file(), into("theirs")));
  const Result ours = runtime.train(runtime.load(pipeline_file(), into("ours", {R"(nodes.loss.use="loss:own")"})));
  EXPECT_EQ(text_of(ours.checkpoint / "model.net.safetensors"), text_of(theirs.checkpoint / "model.net.safetensors"));
  EXPECT_EQ(mapped("libtorch_cpu.so").size(), 1U);
  EXPECT_EQ(mapped("libc10.so").size(), 1U);
}

TEST_F(TorchTest, SettingsAndRandomNumbersOfTheProgramAreItsOwnAfterwards) {
  at::globalContext().setDeterministicAlgorithms(false, false);
  at::globalContext().setBenchmarkCuDNN(true);
  at::set_num_threads(2);
  const std::string before = settings_now();
  const at::Tensor random = at::detail::getDefaultCPUGenerator().get_state();

  const Runtime runtime;
  std::string during;
  const Result result = runtime.train(runtime.load(pipeline_file(), into("runs", {R"(run.float32="tf32")"})),
                                      {.observer = [&](const Event& event) {
                                        if (event.kind == Event::Kind::kValidateEnd) during = settings_now();
                                      }});
  EXPECT_NE(during.substr(0, 1), before.substr(0, 1)) << "the pipeline's determinism was not in force";
  EXPECT_EQ(settings_now(), before);
  Predictor predictor = runtime.predictor(result.checkpoint, {.fields = kPointField});
  EXPECT_EQ(settings_now(), before);
  static_cast<void>(predictor.predict({{"point", points_, {2}}}));
  EXPECT_EQ(settings_now(), before);
  EXPECT_TRUE(at::equal(at::detail::getDefaultCPUGenerator().get_state(), random));

  std::string on_a_new_thread;
  std::jthread([&] { on_a_new_thread = settings_now(); }).join();
  EXPECT_EQ(on_a_new_thread, before);
}

TEST_F(TorchTest, TheLibtorchOfTheProgramCountsAndNotTheOneOfTheEnvironment) {
  ::setenv("TENON_LIBTORCH", folder_.c_str(), 1);  // where there is none
  const Runtime runtime;
  EXPECT_EQ(runtime.train(runtime.load(pipeline_file(), into("runs"))).steps, 20);
  ::unsetenv("TENON_LIBTORCH");
}

}  // namespace
}  // namespace tenon::kernel
