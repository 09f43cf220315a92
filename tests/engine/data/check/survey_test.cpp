// One reading of a stream: what is gathered where, failures, and the same on any number of threads.
#include <engine/data/check/survey.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <future>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <core/process/breadcrumb.hpp>
#include <engine/data/fakes.hpp>

namespace tenon::engine {
namespace {

using fakes::FunctionDataset;
using fakes::FunctionTransform;

SurveyRequest request_for(const Dataset& dataset, std::vector<TransformNode> transforms = {}) {
  SurveyRequest request;
  request.dataset = {"rows", "dataset:rows", &dataset};
  request.transforms = std::move(transforms);
  const Stream stream(request.dataset, request.transforms, 0);
  for (const std::size_t place : std::set<std::size_t>{0, request.transforms.size()}) {
    SurveyPoint& point = request.points.emplace_back();
    point.transforms = place;
    for (const FieldSpec& field : stream.fields_after(static_cast<int>(place))) point.fields.push_back(plan_for(field));
  }
  for (std::size_t i = 0; i < stream.fields_after(0).size(); ++i) request.hashed.push_back(i);
  return request;
}

TransformNode node(const char* name, const Transform& transform) {
  return {name, std::string("transform:") + name, &transform};
}

/// Vectors of two, a label of three classes, and an image whose size depends on the index.
FunctionDataset rows(int64_t count, int64_t fails_at = -1) {
  return {count,
          {{"x", Dtype::kFloat32, {2}}, {"label", Dtype::kInt64, {}}, {"image", Dtype::kUint8, {"H", "W", 3}}},
          [fails_at](int64_t index, Sample& out) {
            if (index == fails_at) throw Error(ErrorCode::kData, "row.jpg is cut off");
            const auto x = out.allocate("x", Dtype::kFloat32, Shape{2}).as<float>();
            x[0] = static_cast<float>(index);
            x[1] = 4;
            out.allocate("label", Dtype::kInt64, {}).as<int64_t>()[0] = index % 3;
            const Shape shape{2 + index % 2, 5, 3};
            const auto pixels = out.allocate("image", Dtype::kUint8, shape).as<uint8_t>();
            for (std::size_t i = 0; i < pixels.size(); ++i)
              pixels[i] = static_cast<uint8_t>(10 * (i % 3) + static_cast<std::size_t>(index % 2));
          }};
}

TEST(Survey, GathersElementsClassesSizesAndChannels) {
  const FunctionDataset dataset = rows(100);
  const Survey found = survey(request_for(dataset));
  EXPECT_EQ(found.size, 100);
  ASSERT_EQ(found.points.size(), 1U);
  const std::vector<FieldSurvey>& fields = found.points[0];

  ASSERT_EQ(fields[0].moments().size(), 2U);
  EXPECT_DOUBLE_EQ(fields[0].moments()[0].mean, 49.5);
  EXPECT_NEAR(fields[0].moments()[0].deviation(), std::sqrt((100.0 * 100 - 1) / 12), 1e-9);
  EXPECT_TRUE(fields[0].moments()[1].constant());

  ASSERT_EQ(fields[1].classes().size(), 3U);
  EXPECT_EQ(fields[1].classes().at(0).count, 34);
  EXPECT_EQ(fields[1].classes().at(2).count, 33);
  EXPECT_EQ(fields[1].classes().at(2).first, 2);

  const std::map<Shape, Occurrence>& sizes = fields[2].sizes();
  ASSERT_EQ(sizes.size(), 2U);
  EXPECT_EQ(sizes.at({3, 5, 3}).count, 50);
  EXPECT_EQ(sizes.at({3, 5, 3}).first, 1);
  ASSERT_EQ(fields[2].moments().size(), 3U);
  for (std::size_t channel = 0; channel < 3; ++channel) {  // 3 of 5 pixels are in images of odd index
    const Moments& moments = fields[2].moments()[channel];
    EXPECT_EQ(moments.count, 50 * 10 + 50 * 15);
    EXPECT_NEAR(moments.mean, 10.0 * static_cast<double>(channel) + 0.6, 1e-12);
    EXPECT_NEAR(moments.deviation(), std::sqrt(0.6 * 0.4), 1e-12);
  }
}

TEST(Survey, LooksBehindTheDatasetAndAtTheEnd) {
  const FunctionDataset dataset = rows(10);
  const FunctionTransform halve([](Sample& sample, Rng&, const When&) {
    const auto from = sample.at("x").as<float>();
    const auto to = sample.allocate("x", Dtype::kFloat32, Shape{2}).as<float>();
    for (std::size_t i = 0; i < 2; ++i) to[i] = from[i] / 2;
  });
  const Survey found = survey(request_for(dataset, {node("halve", halve)}));
  ASSERT_EQ(found.points.size(), 2U);
  EXPECT_EQ(found.points[0][0].moments()[0].maximum, 9);
  EXPECT_EQ(found.points[1][0].moments()[0].maximum, 4.5);
  EXPECT_EQ(found.points[1][1].classes().size(), 3U);
}

TEST(Survey, ASampleThatFailsIsToldAndTheOthersGoOn) {
  const FunctionDataset dataset = rows(100, 41);
  const FunctionTransform picky([](Sample& sample, Rng&, const When&) {
    if (sample.at("x").as<float>()[0] == 7) throw Error(ErrorCode::kData, "takes no sevens");
  });
  const Survey found = survey(request_for(dataset, {node("picky", picky)}));
  ASSERT_EQ(found.failed.size(), 2U);
  EXPECT_EQ(found.failed[0].index, 7);
  EXPECT_EQ(found.failed[0].node, "picky");
  EXPECT_EQ(found.failed[1].index, 41);
  EXPECT_EQ(found.failed[1].node, "rows");
  EXPECT_NE(found.failed[1].message.find("row.jpg is cut off"), std::string::npos);
  EXPECT_EQ(found.points[0][0].moments()[0].count, 99);
  EXPECT_EQ(found.points[1][0].moments()[0].count, 98);
  EXPECT_EQ(found.hashes[41], 0U);
  EXPECT_NE(found.hashes[7], 0U);
}

TEST(Survey, WhatIsNoFaultOfASampleEndsItOnAnyNumberOfThreads) {
  for (const ErrorCode code : {ErrorCode::kMemory, ErrorCode::kStorage}) {
    for (const int threads : {1, 3}) {
      const FunctionDataset dataset(200, {{"x", Dtype::kFloat32, {}}}, [code](int64_t index, Sample& out) {
        if (index == 41 || index == 150) throw Error(code, "there is no more of it");
        if (index == 7) throw Error(ErrorCode::kData, "is damaged");
        out.allocate(0, Dtype::kFloat32, {}).as<float>()[0] = 0;
      });
      SurveyRequest request = request_for(dataset);
      request.threads = threads;
      EXPECT_EQ(fakes::error_of(code, [&] { (void)survey(request); }),
                "\"rows\" (dataset:rows), sample 41 of \"rows\", epoch 0: there is no more of it");
    }
  }
  const FunctionDataset hungry(50, {{"x", Dtype::kFloat32, {}}}, [](int64_t, Sample&) { throw std::bad_alloc(); });
  EXPECT_EQ(fakes::error_of(ErrorCode::kMemory, [&] { (void)survey(request_for(hungry)); }),
            "\"rows\" (dataset:rows), sample 0 of \"rows\", epoch 0: out of memory");
}

TEST(Survey, MoreSamplesThanMemoryCanCompareAreRefusedAndAFewOfThemAreRead) {
  const FunctionDataset dataset(int64_t{1} << 62, {{"x", Dtype::kFloat32, {}}},
                                [](int64_t, Sample& out) { out.allocate(0, Dtype::kFloat32, {}).as<float>()[0] = 0; });
  SurveyRequest request = request_for(dataset);
  const std::string message = fakes::error_of(ErrorCode::kMemory, [&] { (void)survey(request); });
  for (const char* const part :
       {"\"rows\" has 4611686018427387904 samples, and to compare all of them takes 137438953472 GiB of memory",
        "look at fewer of them, with --samples"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  request.most = 100;
  EXPECT_EQ(survey(request).samples.size(), 100U);
}

TEST(Survey, IsTheSameToTheBitOnAnyNumberOfThreads) {
  const FunctionDataset dataset = rows(500, 77);
  SurveyRequest request = request_for(dataset);
  const Survey one = survey(request);
  for (const int threads : {2, 5}) {
    request.threads = threads;
    const Survey other = survey(request);
    EXPECT_EQ(other.hashes, one.hashes);
    for (std::size_t field = 0; field < 3; ++field) {
      for (std::size_t i = 0; i < one.points[0][field].moments().size(); ++i) {
        EXPECT_EQ(other.points[0][field].moments()[i].mean, one.points[0][field].moments()[i].mean);
        EXPECT_EQ(other.points[0][field].moments()[i].squares, one.points[0][field].moments()[i].squares);
      }
    }
  }
}

TEST(Survey, HashesByContentTypeAndShape) {
  const FunctionDataset dataset(5, {{"x", Dtype::kUint8, {"N", "M"}}}, [](int64_t index, Sample& out) {
    const Shape shape = index == 3 ? Shape{3, 2} : Shape{2, 3};
    const auto x = out.allocate("x", Dtype::kUint8, shape).as<uint8_t>();
    for (std::size_t i = 0; i < 6; ++i) x[i] = static_cast<uint8_t>(index == 1 ? i + 1 : i);
  });
  const std::vector<uint64_t> hashes = survey(request_for(dataset)).hashes;
  EXPECT_EQ(hashes[0], hashes[2]);
  EXPECT_EQ(hashes[0], hashes[4]);
  EXPECT_NE(hashes[0], hashes[1]);
  EXPECT_NE(hashes[0], hashes[3]);
}

TEST(Survey, AFewSamplesComeFromAllOverAndFollowNoRhythm) {
  const FunctionDataset dataset = rows(99);
  SurveyRequest request = request_for(dataset);
  request.most = 33;
  int64_t told = -1;
  request.progress = [&](int64_t done, int64_t total) {
    EXPECT_EQ(total, 33);
    told = done;
  };
  const Survey found = survey(request);
  ASSERT_EQ(found.samples.size(), 33U);
  for (std::size_t i = 0; i < 33; ++i) EXPECT_EQ(found.samples[i] / 3, static_cast<int64_t>(i));
  EXPECT_EQ(found.points[0][1].classes().size(), 3U);  // of index % 3
  EXPECT_EQ(told, 33);
  EXPECT_EQ(survey(request).samples, found.samples);
  request.most = 1000;
  request.progress = {};
  EXPECT_EQ(survey(request).samples.size(), 99U);
}

TEST(Survey, NumbersOfManyValuesAreNoClasses) {
  const FunctionDataset dataset(5000, {{"id", Dtype::kInt32, {}}}, [](int64_t index, Sample& out) {
    out.allocate("id", Dtype::kInt32, {}).as<int32_t>()[0] = static_cast<int32_t>(index);
  });
  const Survey found = survey(request_for(dataset));
  EXPECT_TRUE(found.points[0][0].classes().empty());
  EXPECT_EQ(found.points[0][0].moments()[0].maximum, 4999);
}

TEST(Survey, PixelsOfMasksAreCountedWhereTheyAreClasses) {
  for (const Dtype dtype : {Dtype::kUint8, Dtype::kInt64}) {
    const FunctionDataset dataset(3, {{"mask", dtype, {2, 2}}}, [dtype](int64_t index, Sample& out) {
      const Array mask = out.allocate("mask", dtype, Shape{2, 2});
      for (std::size_t i = 0; i < 4; ++i) {
        const int64_t number = i == 0 ? 255 : index;
        if (dtype == Dtype::kUint8) {
          mask.as<uint8_t>()[i] = static_cast<uint8_t>(number);
        } else {
          mask.as<int64_t>()[i] = number;
        }
      }
    });
    SurveyRequest request = request_for(dataset);
    request.points[0].fields[0].classes = true;
    const auto classes = survey(request).points[0][0].classes();
    ASSERT_EQ(classes.size(), 4U);
    EXPECT_EQ(classes.at(255).count, 3);
    EXPECT_EQ(classes.at(2).count, 3);
    EXPECT_EQ(classes.at(2).first, 2);
  }
}

TEST(Plan, TakesImagesByChannelVectorsByElementAndTextsNotAtAll) {
  using Per = FieldPlan::Per;
  EXPECT_EQ(plan_for({"x", Dtype::kFloat32, {}}).per, Per::kElement);
  EXPECT_EQ(plan_for({"x", Dtype::kFloat32, {7}}).per, Per::kElement);
  EXPECT_EQ(plan_for({"x", Dtype::kFloat32, {kWidest + 1}}).per, Per::kField);
  EXPECT_EQ(plan_for({"x", Dtype::kFloat32, {"N"}}).per, Per::kField);
  EXPECT_EQ(plan_for({"text", Dtype::kUint8, {"N"}}).per, Per::kNothing);
  EXPECT_EQ(plan_for({"x", Dtype::kBool, {3}}).per, Per::kNothing);
  const FieldPlan last = plan_for({"image", Dtype::kUint8, {"H", "W", 3}});
  EXPECT_EQ(last.per, Per::kChannel);
  EXPECT_EQ(last.layout.channel, 2U);
  const FieldPlan first = plan_for({"image", Dtype::kFloat32, {3, 8, 3}});
  EXPECT_EQ(first.layout.channel, 0U);
  EXPECT_EQ(plan_for({"image", Dtype::kUint8, {3, 8, 3}}).layout.channel, 2U);
  EXPECT_EQ(plan_for({"signal", Dtype::kFloat32, {5, 100}}).per, Per::kField);
}

TEST(Survey, EqualBytesOfAnotherTypeAreOfAnotherContent) {
  const auto hash = [](Dtype dtype) {
    const FunctionDataset dataset(1, {{"x", dtype, {2}}}, [dtype](int64_t, Sample& out) {
      const Array array = out.allocate(0, dtype, Shape{2});
      std::memset(array.data, 0, array.bytes());
    });
    return survey(request_for(dataset)).hashes.at(0);
  };
  EXPECT_EQ(hash(Dtype::kFloat32), hash(Dtype::kFloat32));
  EXPECT_NE(hash(Dtype::kFloat32), hash(Dtype::kInt32));
}

TEST(Survey, ASampleThatDoesNotComeBackIsNamedOnAnyNumberOfThreads) {
  for (const int threads : {1, 3}) {
    const int before = fakes::threads_of_process();
    std::promise<void> release;
    std::atomic<int> reads = 0;  // from the thread that is given up to this one, which nothing else orders
    const FunctionDataset dataset(1000, {{"x", Dtype::kFloat32, {}}},
                                  [&reads, released = release.get_future().share()](int64_t index, Sample& out) {
                                    if (index == 517) released.wait();
                                    out.allocate(0, Dtype::kFloat32, {}).as<float>()[0] = 0;
                                    ++reads;
                                  });
    int given_up = 0;
    SurveyRequest request = request_for(dataset);
    request.dataset.callee = &core::callee("org.test", "1", "/test.so", "dataset:rows", "rows");
    request.threads = threads;
    request.sample_timeout = std::chrono::seconds(1);
    request.give_up = [&] { ++given_up; };
    EXPECT_EQ(fakes::error_of(ErrorCode::kData, [&] { (void)survey(request); }),
              "\"rows\" (dataset:rows), sample 517 of \"rows\": it has been under way for more than 1 s, the loader's "
              "\"sample_timeout\"; look at that sample and at what it is read from, or allow more time");
    EXPECT_EQ(given_up, 1);
    release.set_value();
    EXPECT_TRUE(fakes::threads_become(before));
    EXPECT_GT(reads, 0);
  }
}

TEST(Survey, ManySamplesThatTakeLongTogetherAreNoneThatHangs) {
  const FunctionDataset dataset(64, {{"x", Dtype::kFloat32, {}}}, [](int64_t, Sample& out) {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    out.allocate(0, Dtype::kFloat32, {}).as<float>()[0] = 0;
  });
  SurveyRequest request = request_for(dataset);
  request.sample_timeout = std::chrono::seconds(1);  // a chunk of 32 takes twice that
  EXPECT_EQ(survey(request).samples.size(), 64U);
}

}  // namespace
}  // namespace tenon::engine
