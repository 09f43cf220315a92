// Whole runs: equal bytes, what is written, what goes wrong.
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <engine/pipeline_fixture.hpp>
#include <engine/tensor_files.hpp>

#include <ATen/ATen.h>
#include <core/storage/canonical_json.hpp>
#include <core/storage/checkpoint.hpp>

namespace tenon::engine {
namespace {

class Run : public PipelineTest {};

TEST_F(Run, TwiceGivesEqualBytesInEveryCheckpoint) {
  const RunOutcome first = run(kSmallPipeline);
  const RunOutcome second = run(kSmallPipeline);
  EXPECT_NE(first.directory, second.directory);
  const auto bytes = checkpoint_bytes(first);
  EXPECT_EQ(bytes.size(), 2U * 5U);  // two checkpoints of model, optimizer, position, state, manifest
  EXPECT_EQ(bytes, checkpoint_bytes(second));
}

TEST_F(Run, LoaderThreadsAndPrefetchDoNotChangeABit) {
  const auto reference = checkpoint_bytes(run(kSmallPipeline, {"nodes.train.with.workers=0"}));
  for (const char* change : {"nodes.train.with.workers=1", "nodes.train.with.workers=2", "nodes.train.with.workers=5",
                             "nodes.train.with.prefetch=7"}) {
    EXPECT_EQ(reference, checkpoint_bytes(run(kSmallPipeline, {change}))) << change;
  }
}

TEST_F(Run, AnotherSeedGivesOtherWeights) {
  EXPECT_NE(checkpoint_bytes(run(kSmallPipeline)), checkpoint_bytes(run(kSmallPipeline, {"run.seed=4"})));
}

TEST_F(Run, ValidationAndCheckpointsDoNotChangeTraining) {
  const RunOutcome often = run(kSmallPipeline, {R"(validate.every="3 steps")", R"(checkpoint.every="5 steps")"});
  const RunOutcome once = run(kSmallPipeline, {R"(validate.every="2 epochs")", R"(checkpoint.every="2 epochs")"});
  EXPECT_EQ(bytes_below(often.checkpoint)["model.net.safetensors"],
            bytes_below(once.checkpoint)["model.net.safetensors"]);
}

TEST_F(Run, MicroBatchesGiveTheGradientOfOneLargeBatchAlsoInTheLastUnevenWindow) {
  // 1,077 samples: 17 windows of 64 in 4 parts, the last window with 53 samples in parts of 16, 16, 16 and 5.
  const std::vector<std::string> plain{"nodes.net.with.dropout=0", "fit.epochs=1"};
  std::vector<std::string> split = plain;
  split.insert(split.end(), {"nodes.train.with.batch=16", "fit.accumulate=4"});
  const RunOutcome one = run(kSmallPipeline, plain);
  const RunOutcome four = run(kSmallPipeline, split);
  EXPECT_EQ(one.steps, 17);
  EXPECT_EQ(four.steps, 17);
  const Tensors a = read_tensors(one.checkpoint / "model.net.safetensors");
  const Tensors b = read_tensors(four.checkpoint / "model.net.safetensors");
  for (const auto& [name, tensor] : a) {
    EXPECT_LT((tensor - b.at(name)).abs().max().item<double>(), 2e-5) << name;
  }
}

TEST_F(Run, PatienceStopsAndSaysSo) {
  const RunOutcome outcome =
      run(kSmallPipeline, {"nodes.opt.with.lr=1e-12", "fit.epochs=50",
                           R"(stop=[{"use":"observer:patience","with":{"metric":"acc","patience":3}}])"});
  EXPECT_FALSE(outcome.stopped.empty());
  EXPECT_LE(outcome.epochs, 20);
  EXPECT_GE(outcome.epochs, 4);
}

TEST_F(Run, BestIsKeptAndUsedForTestAndExport) {
  const RunOutcome outcome =
      run(kSmallPipeline,
          {"fit.epochs=6", R"(checkpoint.keep={"last":1,"best":{"metric":"acc","count":1}})", R"(export=["script"])"});
  EXPECT_TRUE(outcome.checkpoint_is_best);
  const core::Json index = core::read_json(outcome.directory / "checkpoints" / "index.json");
  double best = -1;
  int64_t best_step = 0;
  for (const core::Json& record : index["history"]) {
    const double value = record["metrics"]["validate.acc"].get<double>();
    if (value > best) {
      best = value;
      best_step = record["step"].get<int64_t>();
    }
  }
  EXPECT_EQ(outcome.checkpoint.filename(), core::step_name(best_step));
  EXPECT_EQ(outcome.validation.at("validate.acc"), best);
  ASSERT_EQ(outcome.exports.size(), 1U);
  EXPECT_EQ(outcome.exports[0].max_abs_error, 0);
  EXPECT_TRUE(std::filesystem::exists(outcome.exports[0].file));
  const core::Json report = core::read_json(outcome.exports[0].file.string() + ".report.json");
  EXPECT_EQ(report["comparisons"].size(), 3U);
  EXPECT_EQ(report["facts"]["checkpoint"], outcome.checkpoint.filename().string());
}

/// Runs, and gives the error that it must end with.
PlacedError expect_error(const std::function<void()>& body) {
  try {
    body();
  } catch (const PlacedError& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return PlacedError(core::Diagnostic{});
}

class FaultyRun : public PipelineTest {
 protected:
  PlacedError fault(const std::string& name, std::vector<std::string> sets = {}) {
    sets.push_back(R"(nodes.net={"use":"model:faulty","in":{"image":"batch.image"},"with":{"fault":")" + name + "\"}}");
    return expect_error([&] { run(kSmallPipeline, sets); });
  }
};

TEST_F(FaultyRun, AShapeThatDoesNotFitIsFoundBeforeDataIsRead) {
  // The dataset cannot be opened: had it been tried first, the error were another.
  const PlacedError error = fault("bad_reshape", {R"(nodes.train_set={"use":"dataset:missing_file"})"});
  EXPECT_EQ(error.code(), ErrorCode::kPlugin);
  const std::string message = error.what();
  EXPECT_NE(message.find("image float32[2, 1, 8, 8] from batch.image"), std::string::npos) << message;
  EXPECT_NE(message.find("model:faulty"), std::string::npos) << message;
  EXPECT_EQ(message.find("Exception raised from"), std::string::npos) << message;
}

TEST_F(FaultyRun, DataOfAnotherShapeThanThatOfTrainingIsNoFaultOfTheModel) {
  // A network for one channel; then validation with three.
  const std::string coloured = R"({"use":"dataset:synthetic","with":{"split":"val","shape":[3,8,8],"field":"image"}})";
  const PlacedError error = expect_error([&] {
    run(kSmallPipeline,
        {R"(nodes.net={"use":"model:cnn","in":{"image":"batch.image"},"with":{"classes":10}})",
         "nodes.val_set=" + coloured,
         R"(nodes.val_x={"use":"transform:copy","in":"val_set","with":{"field":"image","into":"twin"}})"});
  });
  EXPECT_EQ(error.code(), ErrorCode::kConfig);
  EXPECT_EQ(error.diagnostic().code, "shape-mismatch");
  EXPECT_EQ(error.diagnostic().pointer, "/nodes/net/in/image");
  EXPECT_EQ(error.diagnostic().message,
            "model \"net\" port \"image\" takes float32[N, 1, 8, 8], as \"train\" of fit gives it, but \"val\" of "
            "validate gives float32[N, 3, 8, 8]");
  EXPECT_NE(error.diagnostic().notes.at(0).find("model:cnn, in its module \"block1.conv\": "), std::string::npos)
      << error.diagnostic().notes.at(0);
}

TEST_F(FaultyRun, AMissingOutputIsNamed) {
  EXPECT_NE(std::string(fault("missing_output").what()).find("\"logits\""), std::string::npos);
}

TEST_F(FaultyRun, AnOperatorUnknownToTheMetaDeviceStillTrains) {
  const RunOutcome outcome =
      run(kSmallPipeline,
          {R"(nodes.net={"use":"model:faulty","in":{"image":"batch.image"},"with":{"fault":"unknown_to_meta"}})"});
  EXPECT_EQ(outcome.steps, 34);
}

TEST_F(FaultyRun, NotANumberStopsBeforeTheUpdateAndNamesTheStep) {
  const PlacedError error = fault("nan");
  EXPECT_EQ(error.code(), ErrorCode::kDiverged);
  EXPECT_NE(std::string(error.what()).find("diverged at step 1 (epoch 1)"), std::string::npos) << error.what();
}

TEST_F(FaultyRun, AnExportWithABakedBatchIsRefusedAndLeavesNoFile) {
  const PlacedError error = fault("baked_batch", {R"(export=["script"])"});
  EXPECT_EQ(error.code(), ErrorCode::kVerification);
  const std::filesystem::path exports = folder_ / "small" / "0001" / "exports";
  EXPECT_TRUE(std::filesystem::is_empty(exports)) << "something was left";
}

TEST_F(FaultyRun, ADatasetThatCannotBeOpenedIsADataError) {
  const PlacedError error =
      expect_error([&] { run(kSmallPipeline, {R"(nodes.train_set={"use":"dataset:missing_file"})"}); });
  EXPECT_EQ(error.code(), ErrorCode::kData);
  EXPECT_EQ(error.diagnostic().pointer.find("/nodes/train_set"), 0U) << error.diagnostic().pointer;
}

TEST_F(FaultyRun, AThrowingTransformNamesNodeSampleAndCause) {
  for (const char* workers : {"0", "2"}) {
    try {
      run(kSmallPipeline, {R"(nodes.shift={"use":"transform:throwing","in":"train_set"})",
                           std::string("nodes.train.with.workers=") + workers});
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kData);
      const std::string message = error.what();
      EXPECT_NE(message.find("shift"), std::string::npos) << message;
      EXPECT_NE(message.find("this sample is unreadable"), std::string::npos) << message;
    }
  }
}

TEST_F(FaultyRun, ADirectoryThatCannotBeWrittenIsAStorageError) {
  runs_ = folder_ / "file" / "runs";
  std::ofstream(folder_ / "file") << "not a folder";
  try {
    run(kSmallPipeline);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kStorage) << error.what();
  }
}

TEST_F(FaultyRun, AnObserverThatThrowsChangesNothingAndIsToldOnce) {
  const RunOutcome quiet = run(kSmallPipeline);
  const RunOutcome loud = run(kSmallPipeline, {R"(observe=[{"use":"observer:throwing"}])"});
  EXPECT_EQ(checkpoint_bytes(quiet), checkpoint_bytes(loud));
  const std::string log = bytes_below(loud.directory)["log.jsonl"];
  const std::string told = "observer:throwing failed: the tracker is out of reach";
  EXPECT_NE(log.find(told), std::string::npos) << log;
  EXPECT_EQ(log.find(told), log.rfind(told));
}

TEST_F(Run, AScheduleThatDoesNotFitIsToldBeforeAnythingIsWritten) {
  const PlacedError error = expect_error([&] {
    run(kSmallPipeline,
        {R"(+nodes.sched={"use":"schedule:cosine","of":"opt","with":{"warmup":"50 steps","until":"end"}})"});
  });
  EXPECT_EQ(error.code(), ErrorCode::kConfig);
  EXPECT_EQ(error.diagnostic().pointer, "/nodes/sched/with/warmup");
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Run, TheLogHoldsEveryStepAndWhatWasFound) {
  const RunOutcome outcome = run(kSmallPipeline);
  std::istringstream lines(bytes_below(outcome.directory)["log.jsonl"]);
  std::map<std::string, int> events;
  int64_t step = -1;
  for (std::string line; std::getline(lines, line);) {
    const core::Json event = core::Json::parse(line);
    ++events[event["event"].get<std::string>()];
    EXPECT_GE(event["step"].get<int64_t>(), step);
    step = event["step"].get<int64_t>();
    if (event["event"] == "step") {
      EXPECT_TRUE(event["values"]["train.loss"].is_number()) << line;
      EXPECT_TRUE(event["values"]["train.lr.opt"].is_number()) << line;
    }
  }
  // 34 steps in two epochs of 17: a line every ten steps and at the end of each epoch.
  EXPECT_EQ(events,
            (std::map<std::string, int>{
                {"run_start", 1}, {"timing", 1}, {"step", 5}, {"checkpoint", 2}, {"validate", 2}, {"run_end", 1}}));
}

TEST_F(FaultyRun, AGroupThatMatchesNothingListsTheNames) {
  const PlacedError error = expect_error(
      [&] { run(kSmallPipeline, {R"(nodes.opt.groups=[{"match":"*.bais","with":{"weight_decay":0}}])"}); });
  EXPECT_EQ(error.code(), ErrorCode::kConfig);
  EXPECT_EQ(error.diagnostic().pointer, "/nodes/opt/groups/0/match");
  EXPECT_NE(std::string(error.what()).find(".bias"), std::string::npos) << error.what();
}

}  // namespace
}  // namespace tenon::engine
