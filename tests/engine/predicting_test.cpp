// Predictions over data that is not as regular as one would like: rows of differing shape, samples that cannot be made.
#include <map>
#include <string>
#include <vector>

#include <core/storage/elements.hpp>
#include <engine/pipeline_fixture.hpp>
#include <engine/predicting.hpp>

namespace tenon::engine {
namespace {

/// Keeps what it is given, as text.
class Kept final : public PredictionSink {
 public:
  void begin(const std::vector<PredictedColumn>& columns, int64_t count, bool is_named) override {
    ++begun;
    described = columns;
    planned = count;
    named = is_named;
  }

  void take(std::span<const int64_t> samples, std::span<const std::string> names,
            std::span<const Array> columns) override {
    EXPECT_EQ(begun, 1);
    EXPECT_EQ(names.size(), named ? samples.size() : 0);
    items.insert(items.end(), names.begin(), names.end());
    for (std::size_t row = 0; row < samples.size(); ++row) {
      std::string text;
      for (const Array& column : columns) {
        const int64_t width = elements(column.shape) / static_cast<int64_t>(samples.size());
        for (int64_t i = 0; i < width; ++i) {
          text += core::element_text(column, static_cast<int64_t>(row) * width + i) + " ";
        }
      }
      rows.emplace_back(samples[row], text);
    }
  }

  int begun = 0;
  int64_t planned = 0;
  bool named = false;
  std::vector<std::string> items;
  std::vector<PredictedColumn> described;
  std::vector<std::pair<int64_t, std::string>> rows;  ///< Index and numbers.
};

class Predicting : public PipelineTest {
 protected:
  /// The rows of a trained pipeline, with changes to the trained one; `told` gets its remarks.
  Kept predict(const std::string& text, const RunOutcome& trained, std::vector<std::string> sets = {}) {
    RunRequest request = this->request(text, std::move(sets));
    Kept kept;
    told_.clear();
    const int64_t rows = predict_rows({.graph = std::move(request.graph),
                                       .resolved = std::move(request.resolved),
                                       .catalogue = std::move(request.catalogue),
                                       .checkpoint = trained.last_checkpoint,
                                       .remark = [&](const std::string& remark) { told_.push_back(remark); }},
                                      kept);
    EXPECT_EQ(rows, static_cast<int64_t>(kept.rows.size()));
    return kept;
  }

  std::vector<std::string> told_;
};

/// What `small` predicts of its validation set, where some samples cannot be made.
std::vector<std::string> throwing(const std::string& probability, const std::string& loader) {
  return {R"(+predict={"data":"val","outputs":["net.logits"],"allow_random":true})", R"(nodes.val.with=)" + loader,
          R"(+nodes.bad={"use":"transform:throwing","in":"val_set","with":{"probability":)" + probability + "}}",
          R"(nodes.val_x.in="bad")", "+validate.allow_random=true"};
}

TEST_F(Predicting, SamplesThatAreLeftOutHaveNoRowAndAreTold) {
  const RunOutcome trained = run(kSmallPipeline, {"fit.epochs=1"});
  const Kept all = predict(kSmallPipeline, trained, throwing("0", R"({"batch":1})"));
  EXPECT_TRUE(told_.empty());
  std::map<int64_t, std::string> expected(all.rows.begin(), all.rows.end());
  ASSERT_EQ(expected.size(), all.rows.size());
  // With one sample a batch each that is lost leaves a batch without any, the first among them for some seed.
  for (const char* const policy : {"skip", "substitute"}) {
    bool first_was_lost = false;
    for (int seed = 0; seed < 4; ++seed) {
      std::vector<std::string> sets =
          throwing("0.5", R"({"batch":1,"bad_sample":{"policy":")" + std::string(policy) + R"(","max":1000}})");
      sets.push_back("run.seed=" + std::to_string(seed));
      const Kept kept = predict(kSmallPipeline, trained, sets);
      EXPECT_EQ(kept.begun, 1);
      EXPECT_EQ(kept.planned, static_cast<int64_t>(all.rows.size()));
      EXPECT_LT(kept.rows.size(), all.rows.size());
      EXPECT_GT(kept.rows.size(), 0U);
      int64_t before = -1;
      for (const auto& [index, numbers] : kept.rows) {
        EXPECT_GT(index, before) << policy;
        EXPECT_EQ(numbers, expected.at(index)) << policy << " " << index;
        before = index;
      }
      ASSERT_EQ(told_.size(), 1U);
      const std::string count = std::to_string(all.rows.size() - kept.rows.size());
      EXPECT_TRUE(told_.front().starts_with("without a row: " + count + " samples could not be made; \"bad\""))
          << told_.front();
      first_was_lost = first_was_lost || kept.rows.front().first != 0;
    }
    EXPECT_TRUE(first_was_lost);
  }
}

TEST_F(Predicting, NoRowAtAllIsAnError) {
  const RunOutcome trained = run(kSmallPipeline, {"fit.epochs=1"});
  try {
    predict(kSmallPipeline, trained, throwing("1", R"({"batch":64,"bad_sample":{"policy":"skip","max":10000}})"));
    FAIL() << "nothing was thrown";
  } catch (const PlacedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kData);
    EXPECT_TRUE(std::string(error.what()).starts_with("there is no row to predict: ")) << error.what();
    EXPECT_EQ(error.diagnostic().pointer, "/nodes/val/in");
  }
}

/// Words of differing length beside a number.
constexpr const char* kWords = R"({
  "format": 1,
  "name": "words",
  "run": { "seed": 5, "device": "cpu", "threads": 1 },
  "nodes": {
    "table": { "use": "dataset:csv", "with": { "path": "words.csv", "fields": [
      { "name": "x", "columns": ["x"] }, { "name": "word", "type": "text" }, { "name": "label", "type": "integer" } ] } },
    "train": { "use": "loader:threads", "in": "table", "with": { "batch": 2, "workers": 0, "pad": [{ "field": "word" }] } },
    "net": { "use": "model:mlp", "in": { "x": "batch.x" }, "with": { "classes": 2, "hidden": [], "input": "x" } },
    "loss": { "use": "loss:cross_entropy", "in": { "logits": "net.logits", "target": "batch.label" } },
    "opt": { "use": "optimizer:adamw", "of": "net" }
  },
  "fit": { "data": "train", "loss": "loss", "epochs": 1 },
  "predict": { "data": "train", "outputs": { "logits": "net.logits", "said": "batch.word" } },
  "observe": []
})";

class PredictingWords : public Predicting {
 protected:
  void SetUp() override {
    Predicting::SetUp();
    std::ofstream(folder_ / "words.csv") << "x,word,label\n1,one,0\n2,two,1\n3,three,0\n4,four,1\n5,six,0\n";
  }
};

TEST_F(PredictingWords, RowsOfAnotherShapeAreAnErrorThatNamesTheCure) {
  const RunOutcome trained = run(kWords);
  try {
    predict(kWords, trained);
    FAIL() << "nothing was thrown";
  } catch (const PlacedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kData);
    EXPECT_EQ(error.diagnostic().pointer, "/predict/outputs/said");
    const std::string text = core::render_text(error.diagnostic());
    EXPECT_NE(text.find("\"batch.word\" gives rows of uint8[3], but of uint8[5] in the batch of sample 2"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("\"pad\" of loader \"train\""), std::string::npos) << text;
  }
  const Kept kept = predict(kWords, trained, {R"(nodes.train.with.pad=[{"field":"word","to":6}])"});
  ASSERT_EQ(kept.rows.size(), 5U);
  EXPECT_EQ(to_string(kept.described.at(1).field), "uint8[6]");
  EXPECT_TRUE(kept.rows[2].second.ends_with(" 116 104 114 101 101 0 ")) << kept.rows[2].second;
}

TEST_F(PredictingWords, EachRowComesOnceInItsPlaceWhateverTheLoaderSays) {
  std::ofstream table(folder_ / "words.csv");
  table << "x,word,label\n";
  for (int i = 0; i < 10; ++i)
    table << i << "," << std::string(static_cast<std::size_t>(6 - i % 5), 'a') << "," << i % 2 << "\n";
  table.close();
  const std::vector<std::string> plain{R"(nodes.train.with={"batch":4,"workers":0,"pad":[{"field":"word","to":6}]})",
                                       R"(predict.outputs={"x":"batch.x","logits":"net.logits"})"};
  const RunOutcome trained = run(kWords, plain);
  const Kept expected = predict(kWords, trained, plain);
  ASSERT_EQ(expected.rows.size(), 10U);
  for (const char* const change :
       {"+nodes.train.with.shuffle=true", R"(+nodes.train.with.last="drop")",
        R"(+nodes.train.with.sampler={"samples":3})", R"(+nodes.train.with.sampler={"replacement":true})",
        R"(+nodes.train.with.sampler={"balance":"label"})", R"(+nodes.train.with.sampler={"weights":"label"})",
        R"(+nodes.train.with.buckets={"field":"word","pool":2})"}) {
    std::vector<std::string> sets = plain;
    sets.emplace_back(change);
    const Kept kept = predict(kWords, trained, sets);
    EXPECT_EQ(kept.planned, 10) << change;
    EXPECT_EQ(kept.rows, expected.rows) << change;
    for (std::size_t i = 0; i < kept.rows.size(); ++i) {
      EXPECT_EQ(kept.rows[i].first, static_cast<int64_t>(i)) << change;
      EXPECT_TRUE(kept.rows[i].second.starts_with(std::to_string(i) + " ")) << change << ": " << kept.rows[i].second;
    }
  }
}

TEST_F(PredictingWords, ListsAreRefusedBeforeAnythingIsTrained) {
  try {
    run(kWords, {"nodes.train.with.pad=[]", R"(nodes.train.with.lists=["word"])"});
    FAIL() << "nothing was thrown";
  } catch (const PlacedError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    EXPECT_EQ(error.diagnostic().code, "shape-mismatch");
    EXPECT_EQ(error.diagnostic().pointer, "/predict/outputs/said");
    EXPECT_NE(std::string(error.what()).find("\"batch.word\" is uint8[?], the lists of all samples"), std::string::npos)
        << error.what();
  }
  run(kWords, {"nodes.train.with.pad=[]", R"(nodes.train.with.lists=["word"])",
               R"(predict.outputs={"logits":"net.logits","length":"batch.word_lengths"})"});
}

}  // namespace
}  // namespace tenon::engine
