// Datasets that read what a transform makes: the same samples, with a fingerprint of their own.
#include <latch>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <core/storage/canonical_json.hpp>
#include <engine/data/fakes.hpp>
#include <engine/data/samples.hpp>
#include <engine/pipeline_fixture.hpp>
#include <engine/stream_dataset.hpp>
#include <tenon/components/item_names.hpp>

namespace tenon::engine {
namespace {

using StreamDatasets = PipelineTest;

/// A pipeline that trains on two parts of the digits joined; `nodes` makes "all" of them, scaled.
std::string pipeline(const std::string& nodes) {
  return R"({
  "format": 1,
  "name": "joined",
  "run": { "seed": 3, "device": "cpu", "threads": 1 },
  "nodes": {
    "first": { "use": "dataset:digits", "with": { "split": "train" } },
    "second": { "use": "dataset:digits", "with": { "split": "val" } },
    )" + nodes +
         R"(,
    "shift": { "use": "transform:random_shift", "in": "all", "with": { "pixels": 1 } },
    "train": { "use": "loader:threads", "in": "shift", "with": { "batch": 64, "shuffle": true, "workers": 2 } },
    "net": { "use": "model:mlp", "in": { "image": "batch.image" }, "with": { "classes": 10, "hidden": [8] } },
    "loss": { "use": "loss:cross_entropy", "in": { "logits": "net.logits", "target": "batch.label" } },
    "opt": { "use": "optimizer:adamw", "of": "net" }
  },
  "fit": { "data": "train", "loss": "loss", "epochs": 1 },
  "observe": []
})";
}

const std::string kJoinedFirst = pipeline(R"("both": { "use": "dataset:concat", "in": ["first", "second"] },
    "all": { "use": "transform:to_float", "in": "both", "with": { "max": 16 } })");

const std::string kScaledFirst =
    pipeline(R"("one": { "use": "transform:to_float", "in": "first", "with": { "max": 16 } },
    "two": { "call": "one", "in": "second" },
    "all": { "use": "dataset:concat", "in": ["one", "two"] })");

TEST_F(StreamDatasets, TrainTheSameModelWhereverTheTransformStands) {
  const auto weights = [](const RunOutcome& outcome) {
    return bytes_below(outcome.last_checkpoint).at("model.net.safetensors");
  };
  EXPECT_EQ(weights(run(kScaledFirst)), weights(run(kJoinedFirst)));
}

TEST_F(StreamDatasets, HaveAFingerprintOfDataTransformsAndParameters) {
  const auto fingerprint = [&](const std::vector<std::string>& sets) {
    const RunOutcome outcome = run(kScaledFirst, sets);
    const core::Json data = core::read_json(outcome.last_checkpoint / "state.json").at("provenance").at("data");
    EXPECT_EQ(data.size(), 3U) << data.dump();
    return data.at("all").at("fingerprint").get<std::string>();
  };
  const std::string first = fingerprint({});
  EXPECT_EQ(fingerprint({"nodes.train.with.batch=32"}), first);
  EXPECT_NE(fingerprint({"nodes.one.with.max=8"}), first);
  EXPECT_NE(fingerprint({R"(nodes.first.with.split="test")"}), first);
}

StreamDataset over(const Dataset& dataset, std::vector<TransformNode> transforms) {
  return {Stream(fakes::node(dataset), std::move(transforms), 0), dataset, "identity"};
}

TEST(StreamDataset, GivesTheSamplesOfItsStreamOnManyThreads) {
  const fakes::FakeDataset dataset(50);
  const auto change = fakes::to_float();
  const StreamDataset whole = over(dataset, {fakes::node("change", change)});
  EXPECT_EQ(whole.size(), 50);
  EXPECT_EQ(to_string(whole.spec().front()), "float32[1, 4, 4]");
  const Stream inner(fakes::node(dataset), {fakes::node("change", change)}, 0);
  const Stream outer(fakes::node(whole), {}, 7);
  std::vector<std::vector<std::string>> expected;
  for (int64_t i = 0; i < 50; ++i) expected.push_back(fakes::sample_of(inner, {i}));
  std::latch ready(4);
  std::vector<std::jthread> threads;
  for (int64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      ready.arrive_and_wait();
      for (int64_t i = 0; i < 200; ++i) {
        const int64_t item = (i + 11 * thread) % 50;
        EXPECT_EQ(fakes::sample_of(outer, {item, i}), expected[static_cast<std::size_t>(item)]);
      }
    });
  }
}

TEST(StreamDataset, SaysWhichStageFailedForWhichItem) {
  const fakes::FakeDataset dataset(50);
  const fakes::FunctionTransform bad(
      [](Sample&, Rng&, const When&) { throw Error(ErrorCode::kData, "the lens is dirty"); });
  const StreamDataset whole = over(dataset, {fakes::node("bad", bad)});
  const Stream outer({"cached", "dataset:cache", &whole}, {}, 7);
  try {
    (void)fakes::sample_of(outer, {3, 2});
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_EQ(error.node(), "bad");
    EXPECT_STREQ(error.what(),
                 "\"cached\" (dataset:cache), sample 3 of \"cached\", epoch 2: \"bad\" (transform:bad), sample 3 of "
                 "\"train_set\", epoch 0: the lens is dirty");
  }
  EXPECT_EQ(over(dataset, {}).fingerprint(), over(dataset, {}).fingerprint());
  EXPECT_NE(over(dataset, {}).fingerprint(),
            StreamDataset(Stream(fakes::node(dataset), {}, 0), dataset, "b").fingerprint());
}

TEST(StreamDataset, HandsOnTheNamesOfItsItems) {
  class Named final : public fakes::FakeDataset, public ItemNames {
   public:
    Named() : FakeDataset(50) {}
    [[nodiscard]] void* ability(const char* id) noexcept override {
      return std::string_view(id) == kAbility ? static_cast<ItemNames*>(this) : nullptr;
    }
    [[nodiscard]] std::string item_name(int64_t index) const override { return std::to_string(index) + ".png"; }
  };
  const auto change = fakes::to_float();
  const fakes::FakeDataset plain(50);
  EXPECT_EQ(over(plain, {}).item_name(3), "");
  const Named named;
  const fakes::FunctionTransform bad(
      [](Sample&, Rng&, const When&) { throw Error(ErrorCode::kData, "the lens is dirty"); });
  const StreamDataset inner = over(named, {fakes::node("change", change)});
  const StreamDataset failing = over(named, {fakes::node("bad", bad)});
  const auto message = [](const Stream& stream) {
    return fakes::error_of(ErrorCode::kData, [&] { (void)fakes::sample_of(stream, {3}); });
  };
  EXPECT_EQ(message(Stream({"cached", "dataset:cache", &inner}, {fakes::node("bad", bad)}, 7)),
            "\"bad\" (transform:bad), sample 3 (3.png) of \"cached\", epoch 0: the lens is dirty");
  EXPECT_EQ(message(Stream({"cached", "dataset:cache", &failing}, {}, 7)),
            "\"cached\" (dataset:cache), sample 3 of \"cached\", epoch 0: \"bad\" (transform:bad), sample 3 (3.png) "
            "of \"train_set\", epoch 0: the lens is dirty")
      << "once is enough";
}

}  // namespace
}  // namespace tenon::engine
