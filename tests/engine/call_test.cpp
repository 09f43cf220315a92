// One component in several places, and models that bring their weights along.
#include <string>
#include <vector>

#include <engine/evaluation.hpp>
#include <engine/pipeline_fixture.hpp>
#include <engine/tables.hpp>

#include <core/storage/canonical_json.hpp>

namespace tenon::engine {
namespace {

constexpr double kBound = 1e-12;

/// Two readings of one model: of x, and of x seen through a fixed map.
std::string shared_pipeline() {
  return R"({
  "format": 1,
  "name": "shared",
  "run": { "seed": 5, "device": "cpu", "threads": 1 },
  "nodes": {
    "rows": )" +
         npy_dataset("x.npy", 3, "y.npy", 1) + R"(,
    "train": { "use": "loader:threads", "in": "rows", "with": { "batch": 10, "workers": 0 } },
    "val": { "use": "loader:threads", "in": "rows", "with": { "batch": 4, "workers": 0 } },
    "glass": { "use": "model:mlp", "in": { "x": "batch.x" }, "frozen": true, "load": "glass.safetensors",
               "with": { "input": "x", "output": "x", "size": 3, "hidden": [] } },
    "net": { "use": "model:mlp", "in": { "x": "batch.x" }, "load": "net.safetensors",
             "with": { "input": "x", "output": "value", "size": 1, "hidden": [] } },
    "again": { "call": "net", "in": { "x": "glass.x" } },
    "one": { "use": "loss:mse", "in": { "prediction": "net.value", "target": "batch.y" } },
    "two": { "use": "loss:mse", "in": { "prediction": "again.value", "target": "batch.y" } },
    "error": { "use": "metric:mean_error", "in": { "prediction": "again.value", "target": "batch.y" } },
    "opt": { "use": "optimizer:recording", "of": "net", "with": { "lr": 0.1 } },
    "prec": { "use": "precision:fp64" }
  },
  "fit": { "data": "train", "precision": "prec", "loss": { "one": 1, "two": 0.25 }, "epochs": 1 },
  "validate": { "data": "val", "metrics": ["error"] },
  "observe": []
})";
}

class Call : public PipelineTest {
 protected:
  void SetUp() override {
    PipelineTest::SetUp();
    write_npy(folder_ / "x.npy", x_);
    write_npy(folder_ / "y.npy", y_);
    net_.save(folder_ / "net.safetensors");
    glass_.save(folder_ / "glass.safetensors");
  }

  static std::vector<std::string> names_of(const std::filesystem::path& checkpoint) {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : bytes_below(checkpoint)) names.push_back(name);
    return names;
  }

  at::Tensor x_ = numbers(10, 3, 0);
  at::Tensor y_ = numbers(10, 1, 9);
  Affine net_{numbers(1, 3, 20), numbers(1, 1, 21).reshape({1})};
  Affine glass_{numbers(3, 3, 30), numbers(1, 3, 31).reshape({3})};
};

TEST_F(Call, AModelCalledTwiceHasOneSetOfWeightsAndTheSumOfBothGradients) {
  const RunOutcome outcome = run(shared_pipeline());
  const at::Tensor seen = glass_(x_);
  const at::Tensor first = 2.0 * (net_(x_) - y_);
  const at::Tensor second = 0.25 * 2.0 * (net_(seen) - y_);
  const Tensors state = read_tensors(outcome.last_checkpoint / "optimizer.opt.safetensors");
  const at::Tensor weight = (first.t().matmul(x_) + second.t().matmul(seen)) / 10;
  EXPECT_LT((state.at("grad/net.head.weight") - weight).abs().max().item<double>(), kBound);
  EXPECT_LT((state.at("grad/net.head.bias") - (first + second).mean(0)).abs().max().item<double>(), kBound);
  const Affine trained = Affine::read(outcome.last_checkpoint / "model.net.safetensors");
  EXPECT_LT((trained.weight - (net_.weight - 0.1 * weight)).abs().max().item<double>(), kBound);
}

TEST_F(Call, ACheckpointHoldsTheModelOnceAndIsMeasuredThroughTheCall) {
  const RunOutcome outcome = run(shared_pipeline());
  EXPECT_EQ(names_of(outcome.last_checkpoint),
            (std::vector<std::string>{"manifest.json", "model.glass.safetensors", "model.net.safetensors",
                                      "optimizer.opt.safetensors", "state.json", "training.safetensors"}));
  const Affine trained = Affine::read(outcome.last_checkpoint / "model.net.safetensors");
  const double expected = (trained(glass_(x_)) - y_).abs().mean().item<double>();
  EXPECT_NEAR(outcome.validation.at("validate.error"), expected, kBound);
  const RunRequest again = request(shared_pipeline());
  EXPECT_EQ(evaluate_checkpoint({again.graph, again.resolved, again.catalogue, outcome.checkpoint, "validate"}),
            outcome.validation);
}

TEST_F(Call, ARunGoesOnAfterTheFilesOfItsFirstValuesAreGone) {
  const std::vector<std::string> sets{"fit.epochs=4"};
  const RunOutcome straight = run(shared_pipeline(), sets);
  runs_ = folder_ / "stopped";
  RunRequest first = request(shared_pipeline(), sets);
  first.interrupt_at = 2;
  EXPECT_EQ(run_session(first).steps, 2);
  const RunRequest later = resumed(shared_pipeline(), sets);
  std::filesystem::remove(folder_ / "net.safetensors");
  std::filesystem::remove(folder_ / "glass.safetensors");
  EXPECT_EQ(bytes_below(straight.last_checkpoint), bytes_below(run_session(later).last_checkpoint));
}

class Frozen : public PipelineTest {
 protected:
  /// Trains `net`, and gives the file of its weights.
  std::filesystem::path trained(const std::string& net) {
    const RunOutcome outcome = run(kSmallPipeline, {net, R"(name="teacher")"});
    return outcome.last_checkpoint / "model.net.safetensors";
  }

  /// The small pipeline with a frozen teacher of that use and a further loss.
  static std::vector<std::string> taught(const std::string& model, const std::filesystem::path& file,
                                         const std::string& loss) {
    return {R"(+nodes.teacher={)" + model + R"(,"in":{"image":"batch.image"},"frozen":true,"load":")" + file.string() +
                "\"}",
            "+nodes.second=" + loss, R"(fit.loss={"loss":1,"second":1})"};
  }
};

constexpr const char* kCnn = R"("use":"model:cnn","with":{"classes":10,"width":4})";
constexpr const char* kDropping = R"("use":"model:mlp","with":{"classes":10,"hidden":[16],"dropout":0.9})";
constexpr const char* kMatch = R"({"use":"loss:mse","in":{"prediction":"net.logits","target":"teacher.logits"}})";

TEST_F(Frozen, AModelStaysBitEqualWithItsStatistics) {
  const auto file = trained(std::string("nodes.net={") + kCnn + R"(,"in":{"image":"batch.image"}})");
  const RunOutcome outcome = run(kSmallPipeline, taught(kCnn, file, kMatch));
  const Tensors before = read_tensors(file);
  const Tensors after = read_tensors(outcome.last_checkpoint / "model.teacher.safetensors");
  ASSERT_EQ(before.size(), after.size());
  int buffers = 0;
  for (const auto& [name, tensor] : before) {
    EXPECT_TRUE(tensor.equal(after.at(name))) << name;
    buffers += name.ends_with("running_mean") ? 1 : 0;
  }
  EXPECT_GT(buffers, 0) << "the teacher has statistics that training would change";
  EXPECT_NE(bytes_below(outcome.last_checkpoint).at("model.net.safetensors"),
            bytes_below(run(kSmallPipeline).last_checkpoint).at("model.net.safetensors"))
      << "the teacher teaches";
}

TEST_F(Frozen, AModelIsInEvaluationSoThatItsDropoutIsOff) {
  const auto file = trained(std::string("nodes.net={") + kDropping + R"(,"in":{"image":"batch.image"}})");
  // A student with the same weights and no dropout, which may not move away: they agree to the last bit in each step.
  std::vector<std::string> sets = taught(kDropping, file, kMatch);
  sets.back() = R"(fit.loss="second")";
  sets.emplace_back(R"(nodes.loss.disabled=true)");
  sets.push_back(
      R"(nodes.net={"use":"model:mlp","with":{"classes":10,"hidden":[16]},"in":{"image":"batch.image"},"load":")" +
      file.string() + "\"}");
  sets.emplace_back(R"(nodes.opt={"use":"optimizer:sgd","of":"net","with":{"lr":0.5}})");
  const RunOutcome outcome = run(kSmallPipeline, sets);
  EXPECT_EQ(bytes_below(outcome.last_checkpoint).at("model.net.safetensors"),
            bytes_below(outcome.last_checkpoint).at("model.teacher.safetensors"));
}

class Load : public Call {
 protected:
  /// Refused before anything is written; gives the message.
  std::string refusal(const Tensors& file) {
    write_tensors(folder_ / "net.safetensors", file);
    runs_ = folder_ / "runs";
    std::string message;
    try {
      run(shared_pipeline());
      ADD_FAILURE() << "nothing was thrown";
    } catch (const PlacedError& error) {
      EXPECT_EQ(error.code(), ErrorCode::kConfig);
      EXPECT_EQ(error.diagnostic().pointer, "/nodes/net/load");
      message = error.what();
    }
    EXPECT_FALSE(std::filesystem::exists(runs_)) << message;
    return message;
  }

  static void expect_parts(const std::string& message, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  }
};

TEST_F(Load, AFloat32FileFillsAModelOfAnyPrecision) {
  const at::Tensor weight = numbers(1, 3, 40).div(3).to(at::kFloat);  // not exact in 16 bits
  write_tensors(folder_ / "net.safetensors", {{"head.weight", weight}, {"head.bias", at::zeros({1}, at::kFloat)}});
  for (const char* precision : {"fp32", "fp64", "bf16"}) {
    const RunOutcome outcome =
        run(shared_pipeline(),
            {std::string(R"(nodes.prec={"use":"precision:)") + precision + "\"}", "nodes.opt.with.lr=1e-30"});
    const at::Tensor found = read_tensors(outcome.last_checkpoint / "model.net.safetensors").at("head.weight");
    EXPECT_EQ(found.scalar_type(), std::string(precision) == "fp64" ? at::kDouble : found.scalar_type());
    EXPECT_TRUE(found.equal(weight.to(found.scalar_type()))) << precision;
  }
}

TEST_F(Load, APrefixBeforeEveryNameIsNamed) {
  expect_parts(refusal({{"module.head.weight", net_.weight}, {"module.head.bias", net_.bias}}),
               {"0 of 2 tensors matched", "every name of the model is there behind \"module.\""});
}

TEST_F(Load, APartialMatchIsRefusedWithCounts) {
  expect_parts(refusal({{"head.weight", net_.weight}}), {"1 of 2 tensors matched", "\"head.bias\" is missing"});
  expect_parts(refusal({{"head.weight", net_.weight.reshape({3, 1})}, {"head.bias", net_.bias}}),
               {"1 of 2 tensors matched", "float64[3, 1] there and float64[1, 3] here"});
  expect_parts(refusal({{"head.weight", net_.weight}, {"head.bias", net_.bias}, {"tail", net_.bias}}),
               {"2 of 2 tensors matched", "\"tail\" is not part of this model"});
}

TEST_F(Load, AFileThatIsNoneIsRefusedAtItsPlace) {
  std::ofstream(folder_ / "net.safetensors") << "no weights";
  try {
    run(shared_pipeline());
    FAIL() << "nothing was thrown";
  } catch (const PlacedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    EXPECT_EQ(error.diagnostic().pointer, "/nodes/net/load");
  }
}

}  // namespace
}  // namespace tenon::engine
