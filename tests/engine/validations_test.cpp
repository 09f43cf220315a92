// Several validations, each with a name and a rhythm of its own.
#include <csignal>
#include <map>
#include <string>
#include <vector>

#include <engine/evaluation.hpp>
#include <engine/pipeline_fixture.hpp>

#include <core/storage/canonical_json.hpp>
#include <core/storage/checkpoint.hpp>

namespace tenon::engine {
namespace {

/// 17 steps an epoch, 34 in all: "often" after every third step, "rare" after every fifth, both after the last one.
const std::vector<std::string> kNamed{
    R"(+nodes.few={"use":"loader:threads","in":"val_x","with":{"batch":50,"workers":0}})",
    R"(+nodes.sure={"use":"metric:accuracy","in":{"logits":"net.logits","target":"batch.label"}})",
    R"(validate={"often":{"data":"val","metrics":["acc"],"every":"3 steps"},)"
    R"("rare":{"data":"few","metrics":["acc","sure"],"every":"5 steps","limit":2}})",
    R"(checkpoint={"every":"4 steps","keep":{"last":2,"best":{"metric":"validate.often.acc","count":1}}})"};

using Found = std::map<int64_t, std::map<std::string, double>>;

class Validations : public PipelineTest {
 protected:
  /// What validation lines of the log say, by step.
  static Found found(const RunOutcome& outcome) {
    Found found;
    std::ifstream log(outcome.directory / "log.jsonl");
    for (std::string line; std::getline(log, line);) {
      const core::Json json = core::Json::parse(line);
      if (json["event"] != "validate") continue;
      for (const auto& [key, value] : json["values"].items()) {
        EXPECT_TRUE(found[json["step"]].emplace(key, value.get<double>()).second) << "told twice: " << line;
      }
    }
    return found;
  }

  RunOutcome interrupted(int64_t step) {
    RunRequest wanted = request(kSmallPipeline, kNamed);
    wanted.interrupt_at = step;
    return run_session(wanted);
  }
};

TEST_F(Validations, EachComesInItsRhythmUnderItsKeys) {
  const Found all = found(run(kSmallPipeline, kNamed));
  for (int64_t step = 1; step <= 34; ++step) {
    const bool often = step % 3 == 0 || step == 34;
    const bool rare = step % 5 == 0 || step == 34;
    ASSERT_EQ(all.contains(step), often || rare) << step;
    if (!all.contains(step)) continue;
    EXPECT_EQ(all.at(step).contains("validate.often.acc"), often) << step;
    EXPECT_EQ(all.at(step).contains("validate.rare.acc"), rare) << step;
    EXPECT_EQ(all.at(step).contains("validate.rare.sure"), rare) << step;
    EXPECT_EQ(all.at(step).size(), (often ? 1U : 0U) + (rare ? 2U : 0U)) << step;
  }
  EXPECT_NE(all.at(34).at("validate.often.acc"), all.at(34).at("validate.rare.acc")) << "other samples, other value";
  EXPECT_EQ(all.at(34).at("validate.rare.acc"), all.at(34).at("validate.rare.sure"));
}

TEST_F(Validations, TheBestIsChosenByTheOneThatIsNamed) {
  const RunOutcome outcome = run(kSmallPipeline, kNamed);
  EXPECT_TRUE(outcome.checkpoint_is_best);
  const core::Json index = core::read_json(outcome.directory / "checkpoints" / "index.json");
  double best = -1;
  int64_t best_step = 0;
  for (const core::Json& record : index["history"]) {
    if (!record["metrics"].contains("validate.often.acc")) continue;
    const double value = record["metrics"]["validate.often.acc"].get<double>();
    if (value <= best) continue;
    best = value;
    best_step = record["step"].get<int64_t>();
  }
  EXPECT_GT(best, 0);
  EXPECT_EQ(outcome.checkpoint.filename(), core::step_name(best_step));
  EXPECT_EQ(outcome.validation.at("validate.often.acc"), best);
}

TEST_F(Validations, ThoseThatAreDueAtAnInterruptionAreNamedInTheCheckpointAndDoneFirst) {
  const Found straight = found(run(kSmallPipeline, kNamed));
  const std::map<int64_t, core::Json> expected{{12, {"validate.often"}},
                                               {20, {"validate.rare"}},
                                               {30, {"validate.often", "validate.rare"}},
                                               {34, {"validate.often", "validate.rare"}},
                                               {16, core::Json::array()}};
  for (const auto& [step, names] : expected) {
    runs_ = folder_ / std::to_string(step);
    const RunOutcome first = interrupted(step);
    EXPECT_EQ(core::read_json(first.last_checkpoint / "state.json")["pending"], names) << step;
    EXPECT_FALSE(found(first).contains(step));
    EXPECT_EQ(found(run_session(resumed(kSmallPipeline, kNamed))), straight) << step;
  }
}

TEST_F(Validations, ResumedAtAnyStepIsTheStraightRun) {
  const RunOutcome straight = run(kSmallPipeline, kNamed);
  for (const int64_t step : {1, 3, 5, 14, 15, 17, 33}) {
    runs_ = folder_ / std::to_string(step);
    EXPECT_EQ(interrupted(step).interrupted, SIGTERM);
    const RunOutcome second = run_session(resumed(kSmallPipeline, kNamed));
    EXPECT_EQ(bytes_below(straight.last_checkpoint), bytes_below(second.last_checkpoint)) << step;
    EXPECT_EQ(found(straight), found(second)) << step;
    EXPECT_EQ(straight.checkpoint.filename(), second.checkpoint.filename()) << step;
  }
}

TEST_F(Validations, EachIsMeasuredAgainByItsName) {
  const RunOutcome outcome = run(kSmallPipeline, kNamed);
  const RunRequest again = request(kSmallPipeline, kNamed);
  std::map<std::string, double> values;
  for (const char* path : {"validate.often", "validate.rare"}) {
    values.merge(evaluate_checkpoint({again.graph, again.resolved, again.catalogue, outcome.last_checkpoint, path}));
  }
  EXPECT_EQ(values, found(outcome).at(34));
}

TEST_F(Validations, OneOfThemStopsTraining) {
  std::vector<std::string> sets = kNamed;
  sets.insert(sets.end(),
              {"nodes.opt.with.lr=1e-12", "fit.epochs=20",
               R"(stop=[{"use":"observer:patience","with":{"metric":"validate.rare.sure","patience":3}}])"});
  const RunOutcome outcome = run(kSmallPipeline, sets);
  EXPECT_FALSE(outcome.stopped.empty());
  EXPECT_EQ(outcome.steps, 20) << "the first value, and three that are no better";
}

}  // namespace
}  // namespace tenon::engine
