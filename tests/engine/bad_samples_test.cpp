// What the log says of samples that could not be made: of every stream of a run, and of all ranks.
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <engine/evaluation.hpp>
#include <engine/pipeline_fixture.hpp>

namespace tenon::engine {
namespace {

/// The small pipeline where samples of all of its streams fail, and every loader tolerates it.
std::vector<std::string> tolerant(std::vector<std::string> more = {}) {
  std::vector<std::string> sets{
      R"(+nodes.bad={"use":"transform:throwing","in":"train_set","with":{"probability":0.02}})",
      R"(nodes.shift.in="bad")",
      R"(nodes.train.with.bad_sample={"policy":"skip","max":500})",
      R"(+nodes.bad_val={"use":"transform:throwing","in":"val_set","with":{"probability":0.05}})",
      R"(nodes.val_x.in="bad_val")",
      R"(nodes.val.with.bad_sample={"policy":"substitute","max":500})",
      R"(+validate.allow_random=true)",
      R"(+nodes.test={"use":"loader:threads","in":"val_x","with":{"batch":50,"bad_sample":{"policy":"skip","max":500}}})",
      R"(+test={"data":"test","metrics":["acc"],"allow_random":true})",
      R"(checkpoint.every="100 epochs")",
  };
  sets.insert(sets.end(), more.begin(), more.end());
  return sets;
}

/// The second phase has data of its own.
constexpr const char* kPhases =
    R"(fit={"data":"train","epochs":2,"phases":[{"name":"own","loss":"loss","optimizers":["opt"]},)"
    R"({"name":"more","data":"more","loss":"loss","optimizers":["opt"]}]})";

class BadSamplesOfRuns : public PipelineTest {
 protected:
  struct Told {
    int64_t step;
    std::string text;
  };

  /// What the log tells of bad samples by whose they are: "epoch 1", "validate", "test".
  static std::map<std::string, std::vector<Told>> told(const RunOutcome& outcome) {
    std::map<std::string, std::vector<Told>> found;
    std::istringstream lines(bytes_below(outcome.directory)["log.jsonl"]);
    for (std::string line; std::getline(lines, line);) {
      const core::Json event = core::Json::parse(line);
      if (event["event"] != "message") continue;
      const std::string text = event["text"];
      const std::size_t colon = text.find(": ");
      found[text.substr(0, colon)].push_back({event["step"], text.substr(colon + 2)});
    }
    return found;
  }

  /// "12 samples could not be made; …"
  static int64_t count_of(const Told& told) { return std::stoll(told.text); }
};

TEST_F(BadSamplesOfRuns, AreToldForTrainingEachValidationAndTheTest) {
  const RunOutcome outcome = run(kSmallPipeline, tolerant());
  const auto found = told(outcome);
  ASSERT_EQ(found.size(), 4U);
  for (const char* const who : {"epoch 1", "epoch 2", "test"}) {
    ASSERT_TRUE(found.contains(who)) << who;
    EXPECT_EQ(found.at(who).size(), 1U) << who;
  }
  ASSERT_EQ(found.at("validate").size(), 2U);
  EXPECT_EQ(found.at("validate")[0].text, found.at("validate")[1].text) << "a validation sees the same each time";
  EXPECT_NE(found.at("validate")[0].text.find("; \"bad_val\" (transform:throwing), sample "), std::string::npos);
  EXPECT_NE(found.at("validate")[0].text.find(" in its place)"), std::string::npos);
  EXPECT_EQ(count_of(found.at("test")[0]), count_of(found.at("validate")[0])) << "the same samples fail";
  EXPECT_EQ(found.at("test")[0].text.find(" in its place)"), std::string::npos) << found.at("test")[0].text;
}

TEST_F(BadSamplesOfRuns, AreToldBeforeEachCheckpointSinceTheLast) {
  const auto whole = told(run(kSmallPipeline, tolerant()));
  runs_ = folder_ / "often";
  const auto parts = told(run(kSmallPipeline, tolerant({R"(checkpoint.every="5 steps")"})));
  for (const char* const who : {"epoch 1", "epoch 2"}) {
    int64_t sum = 0;
    for (const Told& each : parts.at(who)) sum += count_of(each);
    EXPECT_GT(parts.at(who).size(), 1U);
    EXPECT_EQ(sum, count_of(whole.at(who)[0])) << who;
  }
}

TEST_F(BadSamplesOfRuns, OfARunThatIsInterruptedAreToldOnceEach) {
  const auto straight = told(run(kSmallPipeline, tolerant()));
  runs_ = folder_ / "interrupted";
  RunRequest first = request(kSmallPipeline, tolerant());
  first.interrupt_at = 11;
  static_cast<void>(run_session(first));
  const auto whole = told(run_session(resumed(kSmallPipeline, tolerant())));
  int64_t sum = 0;
  for (const Told& each : whole.at("epoch 1")) sum += count_of(each);
  EXPECT_EQ(whole.at("epoch 1").size(), 2U);
  EXPECT_EQ(sum, count_of(straight.at("epoch 1")[0]));
}

TEST_F(BadSamplesOfRuns, OfAllRanksAreCounted) {
  const auto alone = told(run(kSmallPipeline, tolerant()));
  for (const int ranks : {2, 3}) {
    runs_ = folder_ / std::to_string(ranks);
    const auto shared = told(
        run(kSmallPipeline,
            tolerant({R"(+nodes.ranks={"use":"distributed:threads","with":{"ranks":)" + std::to_string(ranks) + "}}",
                      R"(run.distributed="ranks")"})));
    for (const char* const who : {"epoch 1", "epoch 2", "validate", "test"}) {
      EXPECT_EQ(count_of(shared.at(who)[0]), count_of(alone.at(who)[0])) << who << " on " << ranks;
      EXPECT_NE(shared.at(who)[0].text.find("(transform:throwing), sample "), std::string::npos) << who;
    }
  }
}

TEST_F(BadSamplesOfRuns, OfThePhaseWithDataOfItsOwnAreTold) {
  const RunOutcome outcome = run(
      kSmallPipeline,
      tolerant(
          {R"(+nodes.more_set={"use":"dataset:digits","with":{"split":"train"}})",
           R"(+nodes.more_bad={"use":"transform:throwing","in":"more_set","with":{"probability":0.05}})",
           R"(+nodes.more_x={"use":"transform:to_float","in":"more_bad","with":{"max":16}})",
           R"(+nodes.more={"use":"loader:threads","in":"more_x","with":{"batch":32,"bad_sample":{"policy":"skip","max":500}}})",
           kPhases}));
  const auto found = told(outcome);
  ASSERT_TRUE(found.contains("epoch 1, phase \"more\""));
  ASSERT_TRUE(found.contains("epoch 2, phase \"more\""));
  EXPECT_NE(found.at("epoch 2, phase \"more\"")[0].text.find("\"more_bad\""), std::string::npos);
}

TEST_F(BadSamplesOfRuns, AreToldWhenACheckpointIsMeasuredAgain) {
  const RunOutcome outcome = run(kSmallPipeline, tolerant());
  RunRequest request = this->request(kSmallPipeline, tolerant());
  std::vector<std::string> remarks;
  static_cast<void>(evaluate_checkpoint({.graph = std::move(request.graph),
                                         .resolved = std::move(request.resolved),
                                         .catalogue = std::move(request.catalogue),
                                         .checkpoint = outcome.last_checkpoint,
                                         .path = "validate",
                                         .remark = [&](const std::string& text) { remarks.push_back(text); }}));
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0], "validate: " + told(outcome).at("validate")[1].text);
}

}  // namespace
}  // namespace tenon::engine
