// Components within components: made, run, saved and blamed in whole runs.
#include <functional>
#include <string>
#include <vector>

#include <engine/pipeline_fixture.hpp>

#include <core/storage/canonical_json.hpp>

namespace tenon::engine {
namespace {

class Nested : public PipelineTest {
 protected:
  /// Another node "shift".
  static std::string shift(const std::string& use, const std::string& with) {
    return R"(nodes.shift={"use":")" + use + R"(","in":"train_set","with":)" + with + "}";
  }

  static std::string wrapped(const std::string& inner) {
    return shift("transform:wrapped", R"({"inner":)" + inner + "}");
  }

  PlacedError fault(const std::string& set) {
    try {
      run(kSmallPipeline, {set});
    } catch (const PlacedError& error) {
      return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return PlacedError(core::Diagnostic{});
  }

  static void expect_text(const PlacedError& error, const std::string& text) {
    const std::string shown = core::render_text(error.diagnostic());
    EXPECT_NE(shown.find(text), std::string::npos) << "missing: " << text << "\n" << shown;
  }
};

TEST_F(Nested, TheInnerTransformDoesWhatItDoesAlone) {
  const std::vector<std::string> none{"nodes.shift.with.pixels=0"};
  const auto weights = [&](const RunOutcome& outcome) {
    return bytes_below(outcome.last_checkpoint).at("model.net.safetensors");
  };
  const std::string alone = weights(run(kSmallPipeline));
  EXPECT_EQ(weights(run(kSmallPipeline, {wrapped(R"({"use":"transform:random_shift","with":{"pixels":1}})")})), alone);
  EXPECT_EQ(weights(run(kSmallPipeline, {wrapped(R"({"use":"transform:random_shift"})")})), alone);
  EXPECT_EQ(weights(run(kSmallPipeline, {wrapped(R"({"use":"transform:wrapped","with":
                {"inner":{"use":"transform:random_shift"}}})")})),
            alone);
  EXPECT_NE(weights(run(kSmallPipeline, none)), alone);
}

TEST_F(Nested, AllDefaultsAndAllPluginsStandInTheRunDirectory) {
  const RunOutcome outcome = run(kSmallPipeline, {wrapped(R"({"use":"transform:by_thread"})")});
  const core::Json resolved = core::read_json(outcome.directory / "config.resolved.json");
  const core::Json& inner = resolved["nodes"]["shift"]["with"]["inner"];
  EXPECT_EQ(inner["use"], "transform:by_thread");
  EXPECT_FALSE(inner["with"].empty()) << resolved.dump(2);
  const core::Json lock = core::read_json(outcome.directory / "lock.json");
  bool listed = false;
  for (const core::Json& plugin : lock["plugins"]) {
    listed = listed || plugin["id"] == "org.tenon.tests.by-thread";
  }
  EXPECT_TRUE(listed);
}

TEST_F(Nested, TheInnerStateIsSavedAndRestoredWithTheOuterOne) {
  const std::vector<std::string> sets{wrapped(R"({"use":"transform:remembers","with":{"memory":7}})")};
  const auto state = [](const RunOutcome& outcome) {
    return core::read_json(outcome.last_checkpoint / "state.json")["components"]["shift"];
  };
  RunRequest first = request(kSmallPipeline, sets);
  first.interrupt_at = 3;
  EXPECT_EQ(state(run_session(first)), (core::Json{{"inner/memory", 7}, {"memory", 1}}));
  EXPECT_EQ(state(run_session(resumed(kSmallPipeline, sets))), (core::Json{{"inner/memory", 107}, {"memory", 1}}));
}

TEST_F(Nested, AParameterThatTheInnerConstructorRefusesIsBlamedAtItsPlace) {
  const PlacedError error = fault(wrapped(R"({"use":"transform:remembers","with":{"memory":-1}})"));
  EXPECT_EQ(error.code(), ErrorCode::kConfig);
  EXPECT_EQ(error.diagnostic().pointer, "/nodes/shift/with/inner/with/memory");
  EXPECT_EQ(error.diagnostic().span.text(), "-1");
  expect_text(error, R"(transform "shift" (transform:wrapped): transform:remembers in "inner": cannot remember)");
}

TEST_F(Nested, AnInnerConstructorThatThrowsIsThatPluginsFault) {
  const PlacedError error = fault(wrapped(R"({"use":"transform:wrapped","with":{"inner":
        {"use":"transform:remembers","with":{"memory":13}}}})"));
  EXPECT_EQ(error.code(), ErrorCode::kPlugin);
  EXPECT_EQ(error.diagnostic().pointer, "/nodes/shift/with/inner/with/inner/use");
  EXPECT_EQ(error.diagnostic().span.text(), R"("transform:remembers")");
  expect_text(error, R"(transform:wrapped in "inner" (plugin org.tenon.tests.faulty): )"
                     R"(transform:remembers in "inner" (plugin org.tenon.tests.faulty): does not like that number)");
}

TEST_F(Nested, AClassWithoutTheAbilityIsThePluginsFaultAndToldHowToMendIt) {
  const PlacedError error = fault(shift("transform:forgetful", R"({"inner":{"use":"transform:remembers"}})"));
  EXPECT_EQ(error.code(), ErrorCode::kPlugin);
  EXPECT_EQ(error.diagnostic().pointer, "/nodes/shift/with/inner");
  expect_text(error, "lacks the ability tenon.nesting/1: its class has to derive from tenon::Nesting");
}

}  // namespace
}  // namespace tenon::engine
