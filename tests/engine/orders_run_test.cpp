// Runs whose epochs are drawn, sorted by length, padded and mixed: stopped anywhere, on any number of threads and
// ranks, they are one run.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <engine/pipeline_fixture.hpp>
#include <engine/ranks.hpp>

namespace tenon::engine {
namespace {

/// Samples of 1 to 7 tokens, which predict the next one; boxes as lists beside them. 101 samples in batches of 8 are 13
/// batches, and so 7 steps of two.
constexpr const char* kRagged = R"({
  "format": 1,
  "name": "ragged",
  "run": { "seed": 5, "device": "cpu", "threads": 1 },
  "nodes": {
    "data": { "use": "dataset:ragged" },
    "train": { "use": "loader:threads", "in": "data", "with": {
      "batch": 8, "shuffle": true, "workers": 2, "lists": ["boxes"],
      "pad": [{ "field": "tokens", "value": 11, "length": "length", "mask": "inside" },
              { "field": "target", "value": -100 }] } },
    "net": { "use": "model:bigram", "in": { "tokens": "batch.tokens" }, "with": { "vocabulary": 12 } },
    "loss": { "use": "loss:cross_entropy", "in": { "logits": "net.logits", "target": "batch.target" } },
    "acc": { "use": "metric:accuracy", "in": { "logits": "net.logits", "target": "batch.target" } },
    "opt": { "use": "optimizer:adamw", "of": "net", "with": { "lr": 0.05 } },
    "prec": { "use": "precision:fp64" }
  },
  "fit": { "data": "train", "loss": "loss", "precision": "prec", "epochs": 2, "accumulate": 2 },
  "validate": { "data": "train", "metrics": ["acc"], "every": "5 steps", "allow_sampled": true },
  "checkpoint": { "every": "100 epochs", "keep": { "last": 1 } },
  "observe": []
})";

struct Way {
  const char* name;
  std::vector<std::string> sets;
};

constexpr const char* kPlain = "nodes.train.with.shuffle=false";

std::vector<Way> ways() {
  return {
      {"Shuffled", {}},
      {"Balanced", {kPlain, R"(+nodes.train.with.sampler={"balance":"label"})"}},
      {"Weighted", {kPlain, R"(+nodes.train.with.sampler={"weights":"weight"})"}},
      {"WeightedOnce", {kPlain, R"(+nodes.train.with.sampler={"weights":"weight","replacement":false,"samples":99})"}},
      {"Replaced", {kPlain, R"(+nodes.train.with.sampler={"replacement":true,"samples":103})"}},
      {"Buckets", {R"(+nodes.train.with.buckets={"field":"tokens","bounds":[3,5],"pool":4})"}},
      {"BalancedBuckets",
       {kPlain, R"(+nodes.train.with.sampler={"balance":"label"})",
        R"(+nodes.train.with.buckets={"field":"tokens","pool":3})"}},
      {"SubstitutedInBuckets",
       {R"(+nodes.train.with.buckets={"field":"tokens","pool":3})",
        R"(+nodes.bad={"use":"transform:throwing","in":"data","with":{"probability":0.1}})", R"(nodes.train.in="bad")",
        R"(+nodes.train.with.bad_sample={"policy":"substitute","max":100})", "+validate.allow_random=true"}},
  };
}

class OrdersRun : public PipelineTest, public testing::WithParamInterface<Way> {
 protected:
  static std::vector<std::string> sets(std::vector<std::string> more = {}) {
    more.insert(more.end(), GetParam().sets.begin(), GetParam().sets.end());
    return more;
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, OrdersRun, testing::ValuesIn(ways()),
                         [](const auto& way) { return std::string(way.param.name); });

TEST_P(OrdersRun, StoppedAnywhereEndsWithTheBytesOfTheStraightOne) {
  const RunOutcome straight = run(kRagged, sets());
  ASSERT_EQ(straight.steps, 14);
  for (const int64_t step : {3, 7, 10}) {
    runs_ = folder_ / std::to_string(step);
    RunRequest wanted = request(kRagged, sets());
    wanted.interrupt_at = step;
    const RunOutcome first = run_session(wanted);
    const RunOutcome second = run_session(resumed(kRagged, sets()));
    EXPECT_EQ(bytes_below(straight.last_checkpoint), bytes_below(second.last_checkpoint)) << "stopped at " << step;
    EXPECT_EQ(first.samples_used + second.samples_used, straight.samples_used);
    EXPECT_EQ(second.first_read, std::pair(step / 7, step % 7 * 2)) << "stopped at " << step;
    EXPECT_EQ(straight.validation, second.validation);
  }
}

TEST_P(OrdersRun, NumbersOfThreadsChangeNoByte) {
  const auto expected = checkpoint_bytes(run(kRagged, sets({"nodes.train.with.workers=0"})));
  for (const char* const workers : {"1", "8"}) {
    EXPECT_EQ(checkpoint_bytes(run(kRagged, sets({std::string("nodes.train.with.workers=") + workers}))), expected)
        << workers;
  }
}

/// Each rank pads to the longest of its own part, and counts the targets that it has.
TEST_P(OrdersRun, RanksGiveTheGradientsOfOne) {
  const std::string recording = R"(nodes.opt={"use":"optimizer:recording","of":"net","with":{"lr":0.5}})";
  const RunOutcome whole = run(kRagged, sets({recording}));
  const auto log = logged(whole);
  for (const int64_t ranks : {2, 3}) {
    const RunOutcome parts = run(kRagged, sets(on_ranks(ranks, {recording})));
    EXPECT_EQ(parts.steps, whole.steps);
    for (const auto* file : {"optimizer.opt.safetensors", "model.net.safetensors"}) {
      EXPECT_LT(difference(whole.last_checkpoint / file, parts.last_checkpoint / file), kBound) << ranks << " ranks";
    }
    const auto other = logged(parts);
    ASSERT_EQ(log.size(), other.size());
    for (const auto& [key, value] : log) {
      ASSERT_TRUE(other.contains(key)) << key;
      EXPECT_NEAR(value, other.at(key), kBound) << key << " on " << ranks << " ranks";
    }
  }
}

class DifferentOrders : public PipelineTest {};

TEST_F(DifferentOrders, GiveDifferentRuns) {
  std::set<std::string> weights;
  for (const Way& way : ways()) {
    weights.insert(bytes_below(run(kRagged, way.sets).last_checkpoint).at("model.net.safetensors"));
  }
  EXPECT_EQ(weights.size(), ways().size()) << "a sampler, or buckets, or what is bad has no effect";
}

/// Images of two classes in files, each mixed with another one of them.
constexpr const char* kPictures = R"({
  "format": 1,
  "name": "pictures",
  "run": { "seed": 5, "device": "cpu", "threads": 1 },
  "nodes": {
    "files": { "use": "dataset:image_folder", "with": { "path": "pictures" } },
    "sized": { "use": "transform:resize", "in": "files", "with": { "height": 6, "width": 6 } },
    "mixed": { "use": "transform:mixup", "in": "sized", "with": { "classes": 2 } },
    "x": { "use": "transform:normalize_image", "in": "mixed", "with": { "mean": [0.5], "std": [0.25] } },
    "train": { "use": "loader:threads", "in": "x",
               "with": { "batch": 3, "workers": 2, "sampler": { "balance": "label", "samples": 20 } } },
    "net": { "use": "model:mlp", "in": { "image": "batch.image" }, "with": { "classes": 2, "hidden": [4] } },
    "loss": { "use": "loss:soft_cross_entropy", "in": { "logits": "net.logits", "target": "batch.label" } },
    "opt": { "use": "optimizer:adamw", "of": "net" }
  },
  "fit": { "data": "train", "loss": "loss", "epochs": 3 },
  "observe": []
})";

class Mixtures : public PipelineTest {
 protected:
  /// Runs once straight and once stopped at each of the steps.
  void expect_equal_when_stopped(const char* text, const std::vector<std::string>& sets,
                                 const std::vector<int64_t>& stops) {
    runs_ = folder_ / "straight";
    const RunOutcome straight = run(text, sets);
    for (const int64_t stop : stops) {
      ASSERT_LT(stop, straight.steps);
      runs_ = folder_ / std::to_string(stop);
      RunRequest wanted = request(text, sets);
      wanted.interrupt_at = stop;
      EXPECT_EQ(run_session(wanted).steps, stop);
      const RunOutcome second = run_session(resumed(text, sets));
      EXPECT_EQ(bytes_below(straight.last_checkpoint), bytes_below(second.last_checkpoint)) << "stopped at " << stop;
    }
  }

  /// 11 grey images of 8 x 8 pixels.
  void write_pictures() const {
    for (int i = 0; i < 11; ++i) {
      const std::filesystem::path folder = folder_ / "pictures" / (i < 8 ? "many" : "few");
      std::filesystem::create_directories(folder);
      std::string pixels(64, '\0');
      for (std::size_t at = 0; at < pixels.size(); ++at)
        pixels[at] = static_cast<char>(at * 3 + static_cast<std::size_t>(i) * 17);
      std::ofstream(folder / (std::to_string(i) + ".pgm"), std::ios::binary) << "P5\n8 8\n255\n" << pixels;
    }
  }
};

TEST_F(Mixtures, OfSamplesGoOnAsTheyWere) {
  write_pictures();
  expect_equal_when_stopped(kPictures, {}, {1, 7, 12});
  const auto weights = [&](std::vector<std::string> sets) {
    runs_ = folder_ / "again";
    return bytes_below(run(kPictures, std::move(sets)).last_checkpoint).at("model.net.safetensors");
  };
  const std::string expected = weights({"nodes.train.with.workers=0"});
  EXPECT_EQ(weights({"nodes.train.with.workers=8"}), expected);
  EXPECT_NE(weights({"nodes.mixed.with.p=0"}), expected) << "nothing was mixed";
}

TEST_F(Mixtures, OfBatchesGoOnAsTheyWere) {
  expect_equal_when_stopped(
      kSmallPipeline,
      {R"(nodes.loss.use="loss:soft_cross_entropy")", "fit.epochs=2",
       R"(+nodes.mixed={"use":"transform:batch_mixup","in":"train","with":{"classes":10}})", R"(fit.data="mixed")",
       "nodes.train.with.shuffle=false", R"(+nodes.train.with.sampler={"replacement":true,"samples":640})"},
      {3, 10, 16});
}

}  // namespace
}  // namespace tenon::engine
