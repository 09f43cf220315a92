// Exports that cannot lie: every planted fault ends with exit code 8, says what and where, and leaves nothing.
#include <chrono>
#include <csignal>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <ATen/ATen.h>
#include <core/storage/canonical_json.hpp>
#include <core/storage/sha256.hpp>
#include <engine/export_gate.hpp>
#include <engine/pipeline_fixture.hpp>
#include <engine/setup.hpp>

namespace tenon::engine {
namespace {

namespace fs = std::filesystem;

class Export : public PipelineTest {
 protected:
  [[nodiscard]] fs::path exports() const { return folder_ / "small" / "0001" / "exports"; }

  static std::string model(const std::string& fault) {
    return R"(nodes.net={"use":"model:faulty","in":{"image":"batch.image"},"with":{"fault":")" + fault + "\"}}";
  }
  static std::string exporter(const std::string& with) {
    return R"(nodes.script={"use":"exporter:faulty","of":"net","with":)" + with + "}";
  }
  static std::string failing(const std::string& fault) { return exporter(R"({"fault":")" + fault + "\"}"); }

  RunOutcome export_run(std::vector<std::string> sets) {
    sets.insert(sets.end(), {R"(export=["script"])", "fit.epochs=1"});
    return run(kSmallPipeline, std::move(sets));
  }

  /// The message with which the export of a run is refused; nothing may be left.
  std::string refusal(std::vector<std::string> sets) {
    std::string message;
    try {
      export_run(std::move(sets));
      ADD_FAILURE() << "the export was let through";
    } catch (const PlacedError& error) {
      EXPECT_EQ(exit_code(error.code()), 8) << error.what();
      EXPECT_EQ(error.diagnostic().pointer.find("/nodes/script"), 0U) << error.diagnostic().pointer;
      message = error.what();
    }
    EXPECT_TRUE(fs::is_empty(exports())) << "something was left";
    EXPECT_NE(message.find("no file was left as script.pt"), std::string::npos) << message;
    EXPECT_EQ(message.find("Exception raised from"), std::string::npos) << message;
    fs::remove_all(folder_ / "small");
    return message;
  }

  static void expect_parts(const std::string& message, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
  }
};

TEST_F(Export, OfAnHonestExporterPasses) {
  const RunOutcome outcome = export_run({exporter(R"({"stores":true})")});
  ASSERT_EQ(outcome.exports.size(), 1U);
  EXPECT_EQ(outcome.exports[0].max_abs_error, 0);
  std::vector<std::string> names;
  for (const auto& [name, bytes] : bytes_below(exports())) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"script.pt", "script.pt.report.json"}));
}

TEST_F(Export, ABakedBatchThatDoesNotRunElsewhereIsNamed) {
  for (const char* fault : {"baked_batch", "baked_view", "baked_arange"}) {
    expect_parts(refusal({model(fault)}), {"batch 1", "right at the batch with which it was written", "nn::size_of"});
  }
}

TEST_F(Export, ABakedExpandGivesTheTracedShapeAndIsNamed) {
  expect_parts(refusal({model("baked_expand")}),
               {"batch 1", "\"logits\"", "float32[4, 10] where the model gives float32[1, 10]", "nn::size_of"});
}

TEST_F(Export, ABakedSizeThatGivesTheRightShapeAndWrongNumbersIsNamed) {
  expect_parts(refusal({model("divided_by_batch")}),
               {"at batch 1", "\"logits\"", "differs from the live model by", "relative 0.75",
                "right at the batch with which it was written", "nn::size_of"});
}

TEST_F(Export, AValueOfTheExampleThatWasBakedIsFoundBecauseOtherSamplesAreCompared) {
  expect_parts(refusal({model("baked_value")}), {"differs", "a value of that example became a constant"});
}

TEST_F(Export, AModelThatIsRandomInEvaluationIsNamedAndNothingIsWritten) {
  expect_parts(refusal({model("endless_dropout")}),
               {"the live model itself is random in evaluation", "\"logits\"", "trains(context)"});
}

TEST_F(Export, AModelThatGivesNanIsNamed) {
  expect_parts(refusal({model("evaluates_to_nan")}), {"the live model itself gives NaN", "\"logits\"", "at batch"});
}

TEST_F(Export, DropoutThatIsAliveInTheFileMakesItNoFunctionOfItsInputs) {
  for (const char* batch : {"[1]", "[1,3,17]"}) {
    expect_parts(refusal({model("evaluated_dropout"),
                          exporter(std::string(R"({"fault":"training","verify":{"batch":)") + batch + "}}")}),
                 {"no function of its inputs", "at batch", "\"logits\"", "dropout", "evaluation"});
  }
  EXPECT_EQ(export_run({model("evaluated_dropout")}).exports.size(), 1U) << "in evaluation there is none";
}

TEST_F(Export, BatchNormThatIsAliveInTheFileIsNamed) {
  expect_parts(refusal({R"(nodes.net={"use":"model:cnn","in":{"image":"batch.image"},"with":{"classes":10,"width":4}})",
                        failing("training")}),
               {"batch", "\"logits\"", "exported in training"});
}

TEST_F(Export, AFileThatKeepsStateIsNoFunctionOfItsInputs) {
  expect_parts(refusal({failing("counts")}), {"no function of its inputs", "keeps state"});
}

TEST_F(Export, AWeightThatWasScaledAfterTheTraceIsFoundByTheOutputs) {
  for (const char* amount : {"0.5", "1e-3"}) {
    expect_parts(refusal({exporter(std::string(R"({"fault":"scaled_weight","amount":)") + amount + "}")}),
                 {"at batch 1 the output \"logits\" of the file differs", "changed after the trace"});
  }
}

TEST_F(Export, AFaultInOutputsOfTheSizeOfAMillionthDoesNotHide) {
  EXPECT_EQ(export_run({model("tiny")}).exports.at(0).max_abs_error, 0);
  fs::remove_all(folder_ / "small");
  expect_parts(refusal({model("tiny"), failing("scaled_weight")}), {"\"logits\" of the file differs", "atol"});
}

TEST_F(Export, OneWeightThatWasChangedByAThousandthIsFoundInWhatTheFileStores) {
  const std::string sets = exporter(R"({"fault":"changed_element","amount":1e-3,"stores":true})");
  expect_parts(refusal({sets}), {"the tensor \"head.weight\" in the file differs", "float32[10, 16]"});
  expect_parts(refusal({exporter(R"({"fault":"changed_element","amount":1e-6,"stores":true})")}), {"\"head.weight\""});
}

TEST_F(Export, AnExporterThatChangesTheLiveModelIsNamed) {
  expect_parts(refusal({failing("changes_model")}), {"writing the file changed", "of the live model", "copies"});
}

TEST_F(Export, AFileThatChangesBetweenWritingAndNamingIsNamed) {
  expect_parts(refusal({failing("changes_file")}), {"the file changed while it was verified"});
}

TEST_F(Export, ViewsThatCarryTheirWholeBufferAreMeasuredAndNamed) {
  const std::string wide =
      R"(nodes.net={"use":"model:mlp","in":{"image":"batch.image"},"with":{"classes":10,"hidden":[1024]}})";
  const std::string message = refusal({wide, failing("flat_views")});
  const int64_t tensors = 4 * (64 * 1024 + 1024 + 1024 * 10 + 10);
  expect_parts(message, {std::to_string(tensors), "view", "clone()",
                         std::to_string(allowed_bytes(static_cast<uint64_t>(tensors)))});
  const RunOutcome honest = export_run({wide});
  const core::Json report = core::read_json(honest.exports.at(0).file.string() + ".report.json");
  EXPECT_EQ(report["tensor_bytes"], tensors);
  EXPECT_LT(report["bytes"], tensors + 32 * 1024);
}

TEST_F(Export, OutputsThatAreNotTheModelsAreNamed) {
  expect_parts(refusal({failing("renames")}), {"outputs \"scores\" where the model gives \"logits\""});
  expect_parts(refusal({failing("drops_output")}), {"outputs none where the model gives \"logits\""});
  expect_parts(refusal({failing("adds_output")}), {"\"features\", \"logits\" where the model gives \"logits\""});
  expect_parts(refusal({failing("other_type")}),
               {"at batch 1", "float64[1, 10] where the model gives float32[1, 10]", "element type"});
  expect_parts(refusal({failing("nan")}),
               {"at batch 1", "\"logits\" of the file is NaN where the model gives a number"});
}

TEST_F(Export, AFileThatCannotBeUsedElsewhereIsNamed) {
  expect_parts(refusal({failing("unloadable")}),
               {"does not open and run alone in a second process", "the file cannot be loaded"});
  expect_parts(refusal({failing("throws_late")}), {"at batch 17", "seventeen is too many"});
  expect_parts(refusal({failing("nothing")}), {"wrote no regular file"});
  expect_parts(refusal({failing("second_file")}), {"\"script.pt.data\" beside the file"});
}

TEST_F(Export, AFileThatCrashesTheSecondProcessIsNamed) {
  expect_parts(refusal({failing("crashes")}),
               {"second process", "crashed (SIGSEGV", "in run of exporter:faulty", "batch 4"});
}

TEST_F(Export, AFileThatHangsIsEndedAndNamed) {
  const RunRequest request = this->request(kSmallPipeline, {failing("hangs"), R"(export=["script"])"});
  engine::Setup setup(request, nullptr);
  setup.prepare();
  try {
    (void)export_model(setup.components(), "script", setup.validate_feed(0), setup.ranks(), folder_,
                       {.program = request.program, .limit = std::chrono::seconds(2)}, {});
    FAIL() << "the export was let through";
  } catch (const PlacedError& error) {
    EXPECT_EQ(exit_code(error.code()), 8);
    expect_parts(error.what(), {"second process", "did not come back within 2 s", "batch 4"});
  }
  EXPECT_TRUE(fs::is_empty(folder_)) << "something was left";
}

TEST_F(Export, AnInterruptionEndsTheSecondProcessAndTheRunGoesOnLater) {
  Interruption interruption;
  RunRequest wanted = request(kSmallPipeline, {failing("hangs"), R"(export=["script"])"});
  wanted.interruption = &interruption;
  std::thread somebody([&] {
    while (!fs::exists(folder_ / "small" / "0001" / "checkpoints" / "step-000034")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    std::this_thread::sleep_for(std::chrono::seconds(2));
    interruption.request(SIGTERM);
  });
  const RunOutcome outcome = run_session(wanted);
  somebody.join();
  EXPECT_EQ(outcome.interrupted, SIGTERM);
  EXPECT_EQ(outcome.steps, 34);
  EXPECT_TRUE(fs::is_empty(outcome.directory / "exports")) << "something was left";
  const RunOutcome later = run_session(resumed(kSmallPipeline, {R"(export=["script"])"}));
  EXPECT_EQ(later.samples_read, 0);
  EXPECT_EQ(later.exports.size(), 1U);
}

TEST_F(Export, EarlierFilesOfTheNameDoNotOutliveARefusal) {
  const RunRequest request = this->request(kSmallPipeline, {failing("renames"), R"(export=["script"])"});
  engine::Setup setup(request, nullptr);
  setup.prepare();
  std::ofstream(folder_ / "script.pt") << "of yesterday";
  std::ofstream(folder_ / "script.pt.report.json") << "{}";
  EXPECT_THROW((void)export_model(setup.components(), "script", setup.validate_feed(0), setup.ranks(), folder_,
                                  {.program = request.program}, {}),
               PlacedError);
  EXPECT_TRUE(fs::is_empty(folder_)) << "something was left";
}

TEST_F(Export, TracedAtFourIsRightAtOneSevenAndThirtyThree) {
  const std::map<std::string, std::string> models{
      {"cnn", R"({"classes":10,"width":8})"},                       // convolution, batch norm, pooling, mean
      {"mlp", R"({"classes":10,"hidden":[32,16],"dropout":0.2})"},  // flatten, linear
  };
  for (const auto& [name, with] : models) {
    std::string net = R"(nodes.net={"in":{"image":"batch.image"},"use":"model:)";
    net.append(name).append(R"(","with":)").append(with).append("}");
    const RunOutcome outcome = export_run(
        {net, R"(nodes.script={"use":"exporter:torchscript","of":"net","with":{"verify":{"batch":[1,7,33]}}})"});
    ASSERT_EQ(outcome.exports.size(), 1U) << name;
    const fs::path file = outcome.exports[0].file;
    const core::Json report = core::read_json(file.string() + ".report.json");
    ASSERT_EQ(report["comparisons"].size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
      const int64_t batch = std::vector<int64_t>{1, 7, 33}[i];
      const core::Json& row = report["comparisons"][i];
      EXPECT_EQ(row["batch"], batch);
      EXPECT_EQ(row["shape"], "float32[" + std::to_string(batch) + ", 10]");
      EXPECT_LT(row["max_abs_error"], 1e-5) << name;
      EXPECT_GT(row["magnitude"], 0.1) << name;
    }
    EXPECT_EQ(report["sha256"], core::sha256_file(file));
    EXPECT_EQ(report["bytes"], fs::file_size(file));
    EXPECT_EQ(report["stored_tensors"], name == "cnn" ? 3 * 6 + 2 : 6);
    EXPECT_LT(report["bytes"], report["tensor_bytes"].get<int64_t>() + 64 * 1024) << name;
  }
}

}  // namespace
}  // namespace tenon::engine
