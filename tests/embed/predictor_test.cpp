// Predicting from memory.
#include <embed/fixture.hpp>

#include <cstring>

namespace tenon::kernel {
namespace {

class PredictorTest : public EmbedTest {
 protected:
  void SetUp() override {
    EmbedTest::SetUp();
    result_ = runtime_.train(runtime_.load(pipeline_file(), into("runs")), {.preflight = false});
  }

  Predictor predictor() { return runtime_.predictor(result_.checkpoint, {.fields = kPointField}); }

  /// What `tenon predict` wrote of an output: the numbers behind the header of a .npy file.
  std::string predicted_by_tenon(const std::string& output) {
    const std::string file = text_of(folder_ / "predicted" / (output + ".npy"));
    const auto header = static_cast<unsigned char>(file.at(8)) + 256U * static_cast<unsigned char>(file.at(9));
    return file.substr(10 + header);
  }

  const Runtime runtime_;
  Result result_;
};

TEST_F(PredictorTest, GivesTheVeryNumbersOfTenonPredict) {
  ASSERT_EQ(tenon("predict '" + result_.checkpoint.string() + "' --format npy --out predicted"), 0)
      << text_of(folder_ / "tenon.err");
  const Predictions predictions = predictor().predict({{"point", points_, {2}}});
  EXPECT_EQ(predictions.rows, kRows);
  ASSERT_EQ(predictions.columns.size(), 3U);
  for (const PredictedColumn& column : predictions.columns) {
    const std::string told = predicted_by_tenon(column.name);
    ASSERT_EQ(column.bytes.size(), told.size()) << column.name;
    EXPECT_EQ(std::memcmp(column.bytes.data(), told.data(), told.size()), 0) << column.name;
  }
  EXPECT_EQ(predictions.at("logits").shape, (Shape{kRows, 2}));
  EXPECT_EQ(predictions.at("class").as<int64_t>().size(), static_cast<std::size_t>(kRows));
}

TEST_F(PredictorTest, TheSameRowsGiveTheSameWhateverCameBefore) {
  Predictor many = predictor();
  const auto first = many.predict({{"point", points_, {2}}}).at("logits").bytes;
  const std::vector<float> one{points_[0], points_[1]};
  EXPECT_EQ(many.predict({{"point", one, {2}}}).rows, 1);
  EXPECT_EQ(many.predict({{"point", points_, {2}}}).at("logits").bytes, first);
}

TEST_F(PredictorTest, EachRowIsPredictedOnceInItsPlaceWhateverTheLoaderDraws) {
  const auto expected = predictor().predict({{"point", points_, {2}}}).at("logits").bytes;
  for (const char* const change :
       {R"(+nodes.new.with.sampler={"replacement":true})", R"(+nodes.new.with.sampler={"samples":5})",
        "+nodes.new.with.shuffle=true", R"(+nodes.new.with.last="drop")"}) {
    Predictor changed =
        runtime_.predictor(result_.checkpoint, {.fields = kPointField, .overlays = {}, .sets = {change}});
    EXPECT_EQ(changed.predict({{"point", points_, {2}}}).at("logits").bytes, expected) << change;
  }
}

TEST_F(PredictorTest, ARowThatCannotBeMadeIsAnErrorAlsoWhereTheRunWouldTolerateIt) {
  for (const char* const policy : {"skip", "substitute"}) {
    Predictor labelled = runtime_.predictor(
        result_.checkpoint,
        {.fields = {{"point", Dtype::kFloat32, {2}}, {"label", Dtype::kInt64, {}}},
         .overlays = {},
         .sets = {R"(+nodes.hot={"use":"transform:one_hot","in":"val_scale","with":{"fields":["label"],"classes":2}})",
                  R"(nodes.new.in="hot")",
                  R"(+nodes.new.with.bad_sample={"policy":")" + std::string(policy) + R"(","max":9})"}});
    const std::vector<float> points{1, 2, 3, 4, 5, 6};
    const std::vector<int64_t> good{0, 1, 1};
    const std::vector<int64_t> bad{0, 7, 1};
    EXPECT_EQ(labelled.predict({{"point", points, {2}}, {"label", good, {}}}).rows, 3);
    const Error error = error_of([&] {
      static_cast<void>(labelled.predict({{"point", points, {2}}, {"label", bad, {}}}));
    });
    EXPECT_EQ(error.code(), ErrorCode::kData);
    EXPECT_NE(std::string(error.what()).find("sample 1"), std::string::npos) << error.what();
  }
}

TEST_F(PredictorTest, SeveralThreadsMayAsk) {
  Predictor shared = predictor();
  const auto expected = shared.predict({{"point", points_, {2}}}).at("logits").bytes;
  std::vector<std::vector<std::byte>> found(4);
  {
    std::vector<std::jthread> threads;
    threads.reserve(found.size());
    for (auto& each : found) {
      threads.emplace_back([&] { each = shared.predict({{"point", points_, {2}}}).at("logits").bytes; });
    }
  }
  for (const auto& each : found) EXPECT_EQ(each, expected);
}

TEST_F(PredictorTest, PredictsWhileATrainingGoesOn) {
  Predictor shared = predictor();
  const auto expected = shared.predict({{"point", points_, {2}}}).at("logits").bytes;
  int asked = 0;
  static_cast<void>(
      runtime_.train(runtime_.load(pipeline_file(), into("second")), {.observer = [&](const Event& event) {
                       if (event.kind != Event::Kind::kValidateEnd) return;
                       EXPECT_EQ(shared.predict({{"point", points_, {2}}}).at("logits").bytes, expected);
                       ++asked;
                     }}));
  EXPECT_GT(asked, 0);
}

TEST_F(PredictorTest, ARunDirectoryWillDoAndThePredictorOutlivesTheRuntime) {
  std::optional<Predictor> kept;
  {
    const Runtime runtime;
    kept.emplace(runtime.predictor(result_.directory, {.fields = kPointField}));
  }
  EXPECT_EQ(kept->checkpoint(), result_.checkpoint);
  EXPECT_EQ(kept->predict({{"point", points_, {2}}}).rows, kRows);
}

TEST_F(PredictorTest, WrongColumnsAreErrorsThatNameThem) {
  Predictor opened = predictor();
  const std::vector<double> doubles{1, 2};
  const std::vector<float> three{1, 2, 3};
  const auto text_for = [&](const Column& column) {
    const Error error = error_of([&] { static_cast<void>(opened.predict({column})); });
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    return std::string(error.what());
  };
  EXPECT_NE(text_for({"points", points_, {2}}).find("the columns are points"), std::string::npos);
  EXPECT_NE(text_for({"point", doubles, {2}}).find("float64[2]"), std::string::npos);
  EXPECT_NE(text_for({"point", three, {3}}).find("float32[3]"), std::string::npos);
  EXPECT_NE(text_for({"point", three, {2}}).find("3 elements"), std::string::npos);
  const std::vector<float> none;
  EXPECT_EQ(error_of([&] { static_cast<void>(opened.predict({{"point", none, {2}}})); }).code(), ErrorCode::kData);
  EXPECT_EQ(opened.predict({{"point", points_, {2}}}).rows, kRows) << "no longer usable after errors";
}

TEST_F(PredictorTest, WhatCannotBeOpenedIsAnErrorOfItsGroup) {
  const auto code_for = [&](const std::filesystem::path& place, const PredictorOptions& options) {
    return error_of([&] { static_cast<void>(runtime_.predictor(place, options)); }).code();
  };
  EXPECT_EQ(code_for(folder_, {.fields = kPointField}), ErrorCode::kCheckpoint);
  EXPECT_EQ(code_for(result_.checkpoint, {.fields = {{"other", Dtype::kFloat32, {2}}}}), ErrorCode::kConfig);
  EXPECT_EQ(code_for(result_.checkpoint, {.fields = kPointField, .overlays = {}, .sets = {"predict=null"}}),
            ErrorCode::kConfig);
}

}  // namespace
}  // namespace tenon::kernel
