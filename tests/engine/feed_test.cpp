// From the loader's batches to the steps: batches without samples, transforms that are none, threads that are given up.
#include <chrono>
#include <string>
#include <vector>

#include <engine/feed.hpp>
#include <engine/pipeline_fixture.hpp>

namespace tenon::engine {
namespace {

class Feeds : public PipelineTest {
 protected:
  /// With a transform of batches between loader and training.
  static std::vector<std::string> behind_loader(const std::string& transform, std::vector<std::string> more = {}) {
    more.push_back(R"(+nodes.behind={"use":"transform:)" + transform + R"(","in":"train"})");
    more.emplace_back(R"(fit.data="behind")");
    return more;
  }
};

TEST_F(Feeds, ABatchWithoutSamplesIsNotTransformed) {
  // With a batch of two, one of three ranks has no sample in any step.
  const RunOutcome outcome =
      run(kSmallPipeline,
          behind_loader("needs_samples",
                        {R"(+nodes.ranks={"use":"distributed:threads","with":{"ranks":3}})",
                         R"(run.distributed="ranks")", "nodes.train.with.batch=2", "fit.epochs=1", "+fit.limit=20"}));
  EXPECT_EQ(outcome.steps, 20);
}

TEST_F(Feeds, ATransformThatOnlySaysThatItTakesBatchesIsAnErrorOfItsPlugin) {
  try {
    run(kSmallPipeline, behind_loader("only_says_so"));
    FAIL() << "nothing was thrown";
  } catch (const PlacedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kPlugin);
    EXPECT_TRUE(error.diagnostic().pointer.starts_with("/nodes/behind")) << error.diagnostic().pointer;
    EXPECT_NE(std::string(error.what()).find("tenon.batch_transform/1"), std::string::npos) << error.what();
  }
}

TEST_F(Feeds, WhatAGivenUpThreadReadsIsGivenUpAlsoByConnectingAgain) {
  const RunRequest request =
      this->request(kSmallPipeline, {R"(nodes.train_set={"use":"dataset:stalling","with":{"milliseconds":4000}})",
                                     R"(nodes.train.with={"batch":4,"workers":1,"sample_timeout":"50 ms"})"});
  const Components components(request.graph, request.resolved, request.catalogue);
  const core::Path* const path = &request.graph.fit.path;
  Feed feed(components, *path, 3);
  open_datasets(components, std::span(&path, 1));
  OneRank alone;
  feed.connect(alone, c10::kCPU, c10::ScalarType::Float);
  feed.start(0, 0, 1);
  EXPECT_THROW(static_cast<void>(feed.next()), PlacedError);
  EXPECT_FALSE(components.callee("train_set")->given_up);
  feed.connect(alone, c10::kCPU, c10::ScalarType::Float);
  EXPECT_TRUE(components.callee("train_set")->given_up);
}

}  // namespace
}  // namespace tenon::engine
