// Every stage tried before the first step: what is wrong is found there, and what is right is not touched by it.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <engine/pipeline_fixture.hpp>

#include <core/storage/canonical_json.hpp>

namespace tenon::engine {
namespace {

const std::string kTest = R"(+test={"data":"val","metrics":["acc"]})";

class Preflight : public PipelineTest {
 protected:
  void SetUp() override {
    PipelineTest::SetUp();
    runs_ = folder_ / "runs";  // not there yet
  }

  RunOutcome tried(const std::vector<std::string>& sets) {
    RunRequest wanted = request(kSmallPipeline, sets);
    wanted.preflight = true;
    return run_session(wanted);
  }

  /// The error that a preflight ends with; nothing may be left, the folder of the runs included.
  PlacedError fault(const std::vector<std::string>& sets) {
    try {
      tried(sets);
    } catch (const PlacedError& error) {
      EXPECT_FALSE(std::filesystem::exists(runs_)) << "something was left";
      const std::string shown = core::render_text(error.diagnostic());
      EXPECT_NE(shown.find("every stage is tried once before training (--no-preflight leaves that out)"),
                std::string::npos)
          << shown;
      return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return PlacedError(core::Diagnostic{});
  }

  static void expect_part(const PlacedError& error, const std::string& part) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << "\n" << error.what();
  }
};

TEST_F(Preflight, FoldersOfTrialsThatDiedAreRemovedAndThoseOfLivingOnesStay) {
  const std::filesystem::path dead = runs_ / ".preflight-dead";
  const std::filesystem::path living = runs_ / ".preflight-living";
  const std::filesystem::path elsewhere = folder_ / "elsewhere";
  std::filesystem::create_directories(dead / "digits/0001/checkpoints");
  std::filesystem::create_directories(living);
  std::filesystem::create_directories(elsewhere);
  std::filesystem::create_directory_symlink(elsewhere, runs_ / ".preflight-link");
  const int held = ::open(living.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  tried({"fit.epochs=1"});
  EXPECT_FALSE(std::filesystem::exists(dead));
  EXPECT_TRUE(std::filesystem::exists(living));
  EXPECT_TRUE(std::filesystem::exists(elsewhere));
  ::close(held);
  tried({"fit.epochs=1"});
  EXPECT_FALSE(std::filesystem::exists(living));
}

TEST_F(Preflight, TheRunIsTheSameByBytesWithIt) {
  const std::vector<std::vector<std::string>> pipelines{
      {kTest, R"(stop=[{"use":"observer:patience","with":{"metric":"acc","patience":50}}])",
       R"(+nodes.sched={"use":"schedule:plateau","of":"opt","with":{"metric":"acc"}})"},
      {R"(nodes.net={"use":"model:cnn","in":{"image":"batch.image"},"with":{"classes":10,"width":4}})", kTest,
       "nodes.train.with.workers=2"},
      {R"(+nodes.ranks={"use":"distributed:threads","with":{"ranks":2}})", R"(run.distributed="ranks")", kTest},
      {R"(nodes.train_x={"use":"transform:standardize","in":"shift","with":{"fields":["image"]}})",
       R"(nodes.val_x={"call":"train_x","in":"val_set"})"},
      {R"(fit={"data":"train","epochs":2,"limit":4,"accumulate":2,"phases":[)"
       R"({"name":"all","loss":"loss","optimizers":["opt"],"repeat":2}]})",
       R"(validate={"a":{"data":"val","metrics":["acc"]},"b":{"data":"val","metrics":["acc"],"limit":1}})"}};
  for (const std::vector<std::string>& sets : pipelines) {
    const RunOutcome plain = run(kSmallPipeline, sets);
    const RunOutcome after = tried(sets);
    EXPECT_EQ(plain.preflight_seconds, 0);
    EXPECT_GT(after.preflight_seconds, 0);
    EXPECT_EQ(checkpoint_bytes(plain), checkpoint_bytes(after)) << sets.front();
    EXPECT_FALSE(checkpoint_bytes(plain).empty());
    EXPECT_EQ(plain.validation, after.validation);
    EXPECT_EQ(plain.test, after.test);
    EXPECT_EQ(plain.steps_executed, after.steps_executed);
    EXPECT_EQ(plain.samples_read, after.samples_read);
  }
}

TEST_F(Preflight, LeavesNothingBesideTheRun) {
  const RunOutcome outcome = tried({kTest, R"(export=["script"])"});
  EXPECT_EQ(outcome.directory, runs_ / "small" / "0001") << "its folder is no number of its own";
  std::vector<std::string> entries;
  for (const auto& entry : std::filesystem::directory_iterator(runs_)) entries.push_back(entry.path().filename());
  EXPECT_EQ(entries, std::vector<std::string>{"small"});
  EXPECT_EQ(outcome.exports.size(), 1U);
}

TEST_F(Preflight, AFaultyExporterIsFoundBeforeTheFirstStep) {
  const PlacedError error = fault(
      {R"(nodes.script={"use":"exporter:faulty","of":"net","with":{"fault":"renames"}})", R"(export=["script"])"});
  EXPECT_EQ(exit_code(error.code()), 8);
  EXPECT_EQ(error.diagnostic().pointer.find("/nodes/script"), 0U) << error.diagnostic().pointer;
}

TEST_F(Preflight, AMetricThatThrowsInValidationOrTestIsFound) {
  const std::string metric = R"(+nodes.bad={"use":"metric:throwing","in":{"logits":"net.logits"}})";
  const PlacedError in_validation = fault({metric, R"(validate.metrics=["acc","bad"])"});
  EXPECT_EQ(in_validation.diagnostic().pointer.find("/nodes/bad"), 0U) << in_validation.diagnostic().pointer;
  expect_part(in_validation, "this metric cannot count");
  expect_part(fault({metric, R"(+test={"data":"val","metrics":["bad"]})"}), "this metric cannot count");
}

TEST_F(Preflight, AControllerThatThrowsIsFound) {
  const PlacedError error = fault({R"(stop=[{"use":"observer:throwing_controller"}])"});
  EXPECT_EQ(error.diagnostic().pointer.find("/stop/0"), 0U) << error.diagnostic().pointer;
  expect_part(error, "this controller cannot decide");
}

TEST_F(Preflight, AStateThatDoesNotComeBackIsFound) {
  for (const char* what : {"name", "type"}) {
    const PlacedError error = fault({std::string(R"(nodes.shift={"use":"transform:forgets","in":"train_set",)") +
                                     R"("with":{"changes":")" + what + "\"}}"});
    EXPECT_EQ(error.diagnostic().pointer.find("/nodes/shift"), 0U) << error.diagnostic().pointer;
  }
}

TEST_F(Preflight, ATransformThatThrowsOnEverySampleIsFound) {
  const PlacedError error =
      fault({R"(nodes.shift={"use":"transform:throwing","in":"train_set","with":{"probability":1}})"});
  EXPECT_EQ(error.code(), ErrorCode::kData);
  expect_part(error, "this sample is unreadable");
}

TEST_F(Preflight, OnRanksEndsAllWithTheErrorOfOne) {
  const PlacedError error = fault(
      {R"(+nodes.ranks={"use":"distributed:threads","with":{"ranks":2}})", R"(run.distributed="ranks")",
       R"(+nodes.bad={"use":"metric:throwing","in":{"logits":"net.logits"}})", R"(validate.metrics=["acc","bad"])"});
  expect_part(error, "this metric cannot count");
}

TEST_F(Preflight, ObserversAreNotShownIt) {
  const RunOutcome outcome = tried({R"(observe=[{"use":"observer:throwing"}])"});
  const std::string log = bytes_below(outcome.directory)["log.jsonl"];
  const std::string told = "observer:throwing failed";
  EXPECT_NE(log.find(told), std::string::npos);
  EXPECT_EQ(log.find(told), log.rfind(told));
}

TEST_F(Preflight, OfTheDemoTakesNoLongerThanAFewOfItsEpochs) {
  std::ifstream in(std::filesystem::path(TENON_SOURCE_DIR) / "sdk/examples/pipelines/digits.json");
  const std::string demo{std::istreambuf_iterator<char>(in), {}};
  RunRequest wanted =
      request(demo, {"vars.epochs=1", R"(nodes.sched.with.warmup="5 steps")", "run.device=\"cpu\"", "+observe=[]"});
  wanted.preflight = true;
  const RunOutcome outcome = run_session(wanted);
  std::printf("figure: trying every stage of the demo takes %.2f s, an epoch of it %.2f s\n", outcome.preflight_seconds,
              outcome.train_seconds);
  EXPECT_LT(outcome.preflight_seconds, 30);
}

TEST_F(Preflight, IsLeftOutWhereARunGoesOn) {
  RunRequest first = request(kSmallPipeline);
  first.interrupt_at = 3;
  EXPECT_EQ(run_session(first).steps, 3);
  RunRequest later = resumed(kSmallPipeline);
  later.preflight = true;
  EXPECT_EQ(run_session(later).preflight_seconds, 0);
}

TEST_F(Preflight, AnInterruptionInItLeavesNothing) {
  const std::vector<std::pair<std::vector<std::string>, int>> waits{
      {{R"(nodes.train_set={"use":"dataset:stalling","with":{"after":0}})", "nodes.train.with.workers=2"}, SIGTERM},
      {{R"(nodes.script={"use":"exporter:faulty","of":"net","with":{"fault":"hangs"}})", R"(export=["script"])"},
       SIGINT}};
  for (const auto& [sets, signal] : waits) {
    Interruption interruption;
    RunRequest wanted = request(kSmallPipeline, sets);
    wanted.preflight = true;
    wanted.interruption = &interruption;
    std::thread somebody([&, signal = signal] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      interruption.request(signal);
    });
    const auto begin = std::chrono::steady_clock::now();
    const RunOutcome outcome = run_session(wanted);
    somebody.join();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(25));
    EXPECT_EQ(outcome.interrupted, signal);
    EXPECT_TRUE(outcome.directory.empty());
    EXPECT_FALSE(std::filesystem::exists(runs_)) << "something was left";
  }
}

}  // namespace
}  // namespace tenon::engine
