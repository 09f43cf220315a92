// Transforms behind the loader, in whole runs.
#include <string>
#include <vector>

#include <engine/pipeline_fixture.hpp>

namespace tenon::engine {
namespace {

class BatchTransforms : public PipelineTest {
 protected:
  /// The small pipeline with batches that are mixed before the model sees them.
  static std::vector<std::string> mixed(const std::string& with, std::vector<std::string> more = {}) {
    more.insert(more.end(), {R"(+nodes.mixed={"use":"transform:batch_mixup","in":"train","with":)" + with + "}",
                             R"(nodes.loss.use="loss:soft_cross_entropy")", R"(fit.data="mixed")"});
    return more;
  }

  static std::string weights(const RunOutcome& outcome) {
    return bytes_below(outcome.last_checkpoint).at("model.net.safetensors");
  }
};

TEST_F(BatchTransforms, GiveTheSameBytesForAnyNumberOfLoaderThreads) {
  const std::string none = weights(run(kSmallPipeline, mixed(R"({"classes":10})", {"nodes.train.with.workers=0"})));
  EXPECT_EQ(weights(run(kSmallPipeline, mixed(R"({"classes":10})", {"nodes.train.with.workers=3"}))), none);
  EXPECT_NE(weights(run(kSmallPipeline, mixed(R"({"classes":10,"probability":0})"))), none);
}

TEST_F(BatchTransforms, MixAnewInEachEpochAndBatch) {
  const auto losses = [&](const std::string& with) {
    return weights(run(kSmallPipeline, mixed(with, {"fit.epochs=1", "nodes.train.with.shuffle=false"})));
  };
  EXPECT_NE(losses(R"({"classes":10})"), losses(R"({"classes":10,"alpha":0.1})"));
}

TEST_F(BatchTransforms, AreNamedWithTheBatchInWhichTheyFail) {
  try {
    run(kSmallPipeline, mixed(R"({"classes":5})", {"nodes.net.with.classes=5"}));
    FAIL();
  } catch (const PlacedError& error) {
    const std::string text = core::render_text(error.diagnostic());
    for (const char* const part :
         {"transform \"mixed\"", "cannot transform batch 0 of epoch 0", "is no class: there are 5", "/nodes/mixed"}) {
      EXPECT_NE(text.find(part), std::string::npos) << "missing: " << part << "\n" << text;
    }
    EXPECT_EQ(error.code(), ErrorCode::kData);
  }
}

}  // namespace
}  // namespace tenon::engine
