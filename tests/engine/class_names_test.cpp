// What classes are called, wherever datasets are joined, cut and kept behind those that know it.
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <engine/data_show.hpp>
#include <engine/pipeline_fixture.hpp>
#include <engine/predicting.hpp>

namespace tenon::engine {
namespace {

using Names = std::vector<std::string>;

/// Keeps the names of each column's classes.
class NamesOf final : public PredictionSink {
 public:
  void begin(const std::vector<PredictedColumn>& columns, int64_t /*count*/, bool /*named*/) override {
    for (const PredictedColumn& column : columns) columns_.push_back(column.categories);
  }
  void take(std::span<const int64_t> /*samples*/, std::span<const std::string> /*names*/,
            std::span<const Array> /*columns*/) override {}

  [[nodiscard]] const std::vector<Names>& columns() const noexcept { return columns_; }

 private:
  std::vector<Names> columns_;
};

class ClassNames : public PipelineTest {
 protected:
  void SetUp() override {
    PipelineTest::SetUp();
    for (const char* const classes : {"one/cat", "one/dog", "two/cat", "two/dog", "other/dog", "other/wolf"}) {
      const std::filesystem::path folder = folder_ / classes;
      std::filesystem::create_directories(folder);
      for (int i = 0; i < 4; ++i) {
        std::ofstream(folder / (std::to_string(i) + ".pgm"), std::ios::binary)
            << "P5 8 8 255\n"
            << std::string(64, static_cast<char>('a' + i));
      }
    }
  }

  /// Trains on the images of "first" and "second", whose nodes lead to "all".
  [[nodiscard]] std::string pipeline(const std::string& second, const std::string& nodes) const {
    const auto images = [&](const std::string& folder) {
      return R"({"use":"dataset:image_folder","with":{"path":")" + (folder_ / folder).string() +
             R"(","color":"grey"}})";
    };
    return R"({
  "format": 1,
  "name": "small",
  "run": { "seed": 3, "device": "cpu", "threads": 1 },
  "nodes": {
    "first": )" +
           images("one") + R"(, "second": )" + images(second) + ", " + nodes + R"(,
    "x": { "use": "transform:resize", "in": "all", "with": { "height": 8, "width": 8 } },
    "scaled": { "use": "transform:to_float", "in": "x" },
    "train": { "use": "loader:threads", "in": "scaled", "with": { "batch": 4, "workers": 1 } },
    "net": { "use": "model:mlp", "in": { "image": "batch.image" }, "with": { "classes": 3, "hidden": [] } },
    "loss": { "use": "loss:cross_entropy", "in": { "logits": "net.logits", "target": "batch.label" } },
    "opt": { "use": "optimizer:sgd", "of": "net" }
  },
  "fit": { "data": "train", "loss": "loss", "epochs": 1 },
  "predict": { "data": "train", "outputs": { "class": { "from": "net.logits", "as": "argmax" },
                                             "label": "batch.label" } },
  "observe": []
})";
  }

  std::unique_ptr<OpenedPredictor> predictor(const std::string& text, const RunOutcome& trained) {
    RunRequest request = this->request(text);
    return open_predictor({.graph = std::move(request.graph),
                           .resolved = std::move(request.resolved),
                           .catalogue = std::move(request.catalogue),
                           .checkpoint = trained.last_checkpoint});
  }

  static std::vector<Names> predicted(OpenedPredictor& predictor) {
    NamesOf sink;
    EXPECT_GT(predictor.predict(sink), 0);
    return sink.columns();
  }

  /// What `data show` names the classes of a field by.
  Names shown(const std::string& text, const std::string& field = "label") {
    RunRequest request = this->request(text);
    const DataShown shown = show_data({.graph = std::move(request.graph),
                                       .resolved = std::move(request.resolved),
                                       .catalogue = std::move(request.catalogue),
                                       .count = 1});
    for (const ShownField& each : shown.fields) {
      if (each.field.name == field) return each.categories;
    }
    ADD_FAILURE() << "no field " << field;
    return {};
  }
};

constexpr const char* kJoined = R"("all": { "use": "dataset:concat", "in": ["first", "second"] })";
const Names kKnown{"cat", "dog"};

TEST_F(ClassNames, AnOpenedPredictorKeepsThemThoughItsCheckpointIsRemoved) {
  const std::string text = pipeline("two", kJoined);
  const RunOutcome trained = run(text);
  const auto opened = predictor(text, trained);
  EXPECT_EQ(predicted(*opened), (std::vector<Names>{kKnown, kKnown}));
  std::filesystem::remove_all(trained.directory);
  EXPECT_EQ(predicted(*opened), (std::vector<Names>{kKnown, kKnown}));
}

TEST_F(ClassNames, AreNotToldWhereJoinedDatasetsDisagree) {
  EXPECT_EQ(shown(pipeline("two", kJoined)), kKnown);
  EXPECT_EQ(shown(pipeline("other", kJoined)), Names());
  EXPECT_EQ(shown(pipeline("other", R"("both": { "use": "dataset:concat", "in": ["first", "second"] },
    "all": { "use": "dataset:limit", "in": "both", "with": { "count": 6 } })")),
            Names());
}

TEST_F(ClassNames, ReachAJoinThroughWhateverHandsThemOn) {
  for (const char* const nodes :
       {R"("a": { "use": "transform:resize", "in": "first", "with": { "height": 8, "width": 8 } },
           "b": { "call": "a", "in": "second" },
           "all": { "use": "dataset:concat", "in": ["a", "b"] })",
        R"("a": { "use": "dataset:limit", "in": "first", "with": { "count": 6 } },
           "b": { "use": "dataset:split", "in": "second", "with": { "part": "train" } },
           "all": { "use": "dataset:concat", "in": ["a", "b"] })",
        R"("small": { "use": "transform:resize", "in": "first", "with": { "height": 8, "width": 8 } },
           "a": { "use": "dataset:cache", "in": "small" },
           "part": { "use": "dataset:repeat", "in": "second", "with": { "times": 2 } },
           "sized": { "call": "small", "in": "part" },
           "b": { "use": "dataset:limit", "in": "sized", "with": { "count": 9 } },
           "all": { "use": "dataset:concat", "in": ["a", "b"] })"}) {
    SCOPED_TRACE(nodes);
    const std::string text = pipeline("two", nodes);
    EXPECT_EQ(shown(text), kKnown);
    EXPECT_EQ(predicted(*predictor(text, run(text))), (std::vector<Names>{kKnown, kKnown}));
  }
}

TEST_F(ClassNames, FollowTheRulesOfTransformsInFrontOfAJoin) {
  const auto behind = [&](const std::string& first, const std::string& second) {
    return pipeline("two",
                    R"("a": { "use": "transform:copy", "in": "first", "with": { "field": "label", "into": "kind" } },
      "b": { "call": "a", "in": "second" }, )" +
                        first + R"(,
      "all": { "use": "dataset:concat", "in": )" +
                        second + " }");
  };
  const std::string copied =
      behind(R"("c": { "use": "transform:resize", "in": "b", "with": { "height": 8, "width": 8 } },
    "d": { "call": "c", "in": "a" })",
             R"(["d", "c"])");
  EXPECT_EQ(shown(copied, "kind"), kKnown) << "a copy";
  EXPECT_EQ(shown(copied), kKnown);
  const std::string written = behind(R"("c": { "use": "transform:to_float", "in": "a", "with": { "field": "kind" } },
    "d": { "call": "c", "in": "b" })",
                                     R"(["c", "d"])");
  EXPECT_EQ(shown(written, "kind"), Names()) << "no classes any more";
  EXPECT_EQ(shown(written), kKnown);
}

}  // namespace
}  // namespace tenon::engine
