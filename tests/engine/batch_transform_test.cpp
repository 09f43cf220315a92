// Transforms behind the loader, in whole runs.
#include <set>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include <engine/batch_stages.hpp>
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
  EXPECT_NE(weights(run(kSmallPipeline, mixed(R"({"classes":10,"p":0})"))), none);
}

TEST_F(BatchTransforms, MixAnewInEachEpochAndBatch) {
  const RunRequest request = this->request(kSmallPipeline, mixed(R"({"classes":10})"));
  const Components components(request.graph, request.resolved, request.catalogue);
  const core::Path& fit = request.graph.fit.path;
  // The share of the first sample, of class 0, which its partner of class 1 has the rest of.
  const auto share = [&](uint64_t seed, const BatchKey& key) {
    BatchStages stages(components, fit, seed);
    (void)stages.spec({{"image", Dtype::kFloat32, {"N", 1, 8, 8}}, {"label", Dtype::kInt64, {"N"}}});
    const Tensors batch{{"image", at::zeros({2, 1, 8, 8})}, {"label", at::arange(2, at::TensorOptions(at::kLong))}};
    return stages.apply(batch, key).at("label")[0][0].item<double>();
  };
  std::set<double> shares;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    for (int64_t index = 0; index < 3; ++index) {
      for (int64_t rank = 0; rank < 2; ++rank) shares.insert(share(3, {epoch, 3, index, rank}));
    }
  }
  EXPECT_EQ(shares.size(), 18U);
  EXPECT_TRUE(shares.contains(share(3, {2, 3, 1, 0}))) << "the same key mixes alike";
  EXPECT_FALSE(shares.contains(share(4, {2, 3, 1, 0}))) << "another seed mixes anew";
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
