// One sample through the stages: values, memory, random numbers, and the words of every failure.
#include <engine/data/stream.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <engine/data/fakes.hpp>
#include <engine/data/samples.hpp>

namespace tenon::engine {
namespace {

using fakes::error_of;
using fakes::FakeDataset;
using fakes::FunctionDataset;
using fakes::FunctionTransform;
using fakes::Kept;
using fakes::node;
using fakes::sample_of;

std::string failure_of(const Dataset& dataset, std::vector<TransformNode> transforms,
                       ErrorCode code = ErrorCode::kData) {
  const Stream stream(node(dataset), std::move(transforms), 7);
  return error_of(code, [&] { (void)sample_of(stream, {3, 2}); });
}

FunctionDataset vector_dataset(Spec spec, const Shape& shape) {
  return {9, std::move(spec), [shape](int64_t, Sample& out) {
            for (float& value : out.allocate("x", Dtype::kFloat32, shape).as<float>()) {
              value = 1;
            }
          }};
}

TEST(Stream, KnowsTheFieldsBehindEachStageBeforeTheDatasetIsOpen) {
  const FakeDataset dataset(3);
  const auto change = fakes::to_float();
  const Stream stream(node(dataset), {node("to_float", change)}, 7);
  EXPECT_EQ(to_string(stream.fields_after(0)[0]), "uint8[1, 4, 4]");
  EXPECT_EQ(to_string(stream.fields()[0]), "float32[1, 4, 4]");
  EXPECT_EQ(dataset.reads(), 0);
}

TEST(Stream, AStageReadsWhatTheStageBeforeMade) {
  const FakeDataset dataset(5);
  const auto change = fakes::to_float();
  const FunctionTransform add(
      [](Sample& sample, Rng&, const When&) {
        const Array image = sample.at("image");
        sample.allocate("sum", Dtype::kFloat64, {}).as<double>()[0] = image.as<float>()[0] + image.as<float>()[15];
      },
      {{"sum", Dtype::kFloat64, {}}});
  const Stream stream(node(dataset), {node("to_float", change), node("add", add)}, 7);
  const std::vector<std::string> fields = sample_of(stream, {4, 0});
  ASSERT_EQ(fields.size(), 3U);
  float pixel = 0;
  std::memcpy(&pixel, fields[0].data() + sizeof(float), sizeof(float));
  EXPECT_EQ(pixel, 29.0F / 16.0F);
  int64_t label = 0;
  std::memcpy(&label, fields[1].data(), sizeof(label));
  EXPECT_EQ(label, 4);
  double sum = 0;
  std::memcpy(&sum, fields[2].data(), sizeof(sum));
  EXPECT_EQ(sum, (28.0 + 43.0) / 16.0);
}

TEST(Stream, TheLastStageWritesIntoTheDestinationAndTheRestIsCopiedOnce) {
  const FakeDataset dataset(5);
  void* written = nullptr;
  const FunctionTransform last([&](Sample& sample, Rng&, const When&) {
    const Array in = sample.at("image");
    const Array out = sample.allocate("image", in.dtype, in.shape);
    EXPECT_NE(in.data, out.data);
    EXPECT_EQ(sample.allocate(0, in.dtype, in.shape).data, out.data) << "a second allocate moves the field";
    written = out.data;
    std::memcpy(out.data, in.data, in.bytes());
  });
  const Stream stream(node(dataset), {node("last", last)}, 7);
  Kept kept(stream);
  Workspace workspace;
  stream.run({2, 0}, kept, workspace);
  EXPECT_EQ(written, kept.fields[0].data());
  EXPECT_EQ(kept.calls, 2);
  EXPECT_EQ(kept.fields, sample_of(Stream(node(dataset), {}, 7), {2, 0}));
}

TEST(Stream, AFieldMayBeDroppedAddedAndReordered) {
  const FakeDataset dataset(5);
  class Swap final : public Transform {
   public:
    [[nodiscard]] Spec spec(const Spec& in) const override { return {in[1], {"one", Dtype::kBool, {}}}; }
    void apply(Sample& sample, Rng&, const When&) const override {
      sample.allocate("one", Dtype::kBool, {}).as<bool>()[0] = true;
    }
  };
  const Swap swap;
  const Stream stream(node(dataset), {node("swap", swap)}, 7);
  const std::vector<std::string> fields = sample_of(stream, {3, 0});
  EXPECT_EQ(fields, (std::vector<std::string>{std::string("\3\0\0\0\0\0\0\0", 8), std::string("\1", 1)}));
}

TEST(Stream, RandomNumbersDependOnSeedNodeEpochSampleAndOccurrenceAlone) {
  const FakeDataset dataset(9);
  const FunctionTransform draw(
      [](Sample& sample, Rng& random, const When&) {
        sample.allocate("draw", Dtype::kFloat64, {}).as<double>()[0] = random.uniform();
      },
      {{"draw", Dtype::kFloat64, {}}});
  const auto drawn = [&](uint64_t seed, const char* name, const SampleKey& key) {
    return sample_of(Stream(node(dataset), {node(name, draw)}, seed), key).back();
  };
  const std::string first = drawn(7, "draw", {3, 2});
  EXPECT_EQ(drawn(7, "draw", {3, 2}), first);
  EXPECT_EQ(drawn(7, "draw", {3, 2, 50}), first) << "the planned number of epochs changes the numbers";
  EXPECT_NE(drawn(8, "draw", {3, 2}), first);
  EXPECT_NE(drawn(7, "other", {3, 2}), first);
  EXPECT_NE(drawn(7, "draw", {4, 2}), first);
  EXPECT_NE(drawn(7, "draw", {3, 1}), first);
  EXPECT_NE(drawn(7, "draw", {3, 2, 1, 1}), first);
}

TEST(Stream, AnotherRandomNodeLeavesANodesNumbersAlone) {
  const FakeDataset dataset(9);
  const auto noise = fakes::noise();
  const FunctionTransform draws([](Sample&, Rng& random, const When&) { (void)random.uniform(); });
  for (int64_t index = 0; index < 9; ++index) {
    const auto alone = sample_of(Stream(node(dataset), {node("noise", noise)}, 7), {index, 1});
    const auto behind = sample_of(Stream(node(dataset), {node("draws", draws), node("noise", noise)}, 7), {index, 1});
    const auto before = sample_of(Stream(node(dataset), {node("noise", noise), node("draws", draws)}, 7), {index, 1});
    EXPECT_EQ(behind, alone);
    EXPECT_EQ(before, alone);
  }
}

TEST(Stream, ATransformIsToldTheEpoch) {
  const FakeDataset dataset(9);
  When seen;
  const FunctionTransform look([&](Sample&, Rng&, const When& when) { seen = when; });
  (void)sample_of(Stream(node(dataset), {node("look", look)}, 7), {3, 2, 25});
  EXPECT_EQ(seen.epoch, 2);
  EXPECT_EQ(seen.epochs, 25);
}

TEST(StreamFailure, OfATransformNamesEverythingOnce) {
  const FakeDataset dataset(9);
  const FunctionTransform bad([](Sample&, Rng&, const When&) { throw std::runtime_error("the lens is dirty"); });
  EXPECT_EQ(failure_of(dataset, {node("bad", bad)}),
            "\"bad\" (transform:bad), sample 3 of \"train_set\", epoch 2: the lens is dirty");
}

TEST(StreamFailure, OfADatasetNamesEverythingOnce) {
  FakeDataset dataset(9);
  dataset.before([](int64_t) { throw Error(ErrorCode::kConfig, "a.png: 3 bytes too short"); });
  EXPECT_EQ(failure_of(dataset, {}),
            "\"train_set\" (dataset:fake), sample 3 of \"train_set\", epoch 2: a.png: 3 bytes too short");
}

TEST(StreamFailure, OfAnyTypeIsAnError) {
  FakeDataset dataset(9);
  const std::string place = "\"train_set\" (dataset:fake), sample 3 of \"train_set\", epoch 2: ";
  dataset.before([](int64_t) { throw 17; });
  EXPECT_EQ(failure_of(dataset, {}), place + "an exception of type int");
  dataset.before([](int64_t) { throw std::string("text"); });
  EXPECT_EQ(failure_of(dataset, {}).substr(0, place.size() + 20), place + "an exception of type");
  dataset.before([](int64_t) { throw std::bad_alloc(); });
  EXPECT_EQ(failure_of(dataset, {}, ErrorCode::kMemory), place + "out of memory");
}

TEST(StreamFailure, AFieldThatIsNotReadIsNamed) {
  const FunctionDataset dataset(9, {{"x", Dtype::kFloat32, {2}}}, [](int64_t, Sample&) {});
  EXPECT_EQ(
      failure_of(dataset, {}),
      "\"train_set\" (dataset:fake), sample 3 of \"train_set\", epoch 2: does not allocate field \"x\", which its "
      "spec promises as float32[2]");
}

TEST(StreamFailure, AWrongTypeOrShapeIsShownBesideTheSpec) {
  const auto reads = [](Dtype dtype, const Shape& shape) {
    return FunctionDataset(9, {{"x", Dtype::kFloat32, {2, Dim()}}},
                           [dtype, shape](int64_t, Sample& out) { (void)out.allocate(0, dtype, shape); });
  };
  const auto says = [](const std::string& got) {
    return "\"train_set\" (dataset:fake), sample 3 of \"train_set\", epoch 2: allocates field \"x\" as " + got +
           ", but its spec says float32[2, ?]";
  };
  EXPECT_EQ(failure_of(reads(Dtype::kFloat64, {2, 3}), {}), says("float64[2, 3]"));
  EXPECT_EQ(failure_of(reads(Dtype::kFloat32, {3, 3}), {}), says("float32[3, 3]"));
  EXPECT_EQ(failure_of(reads(Dtype::kFloat32, {2}), {}), says("float32[2]"));
  EXPECT_EQ(failure_of(reads(Dtype::kFloat32, {2, 3, 1}), {}), says("float32[2, 3, 1]"));
  EXPECT_NE(failure_of(reads(Dtype::kFloat32, {2, INT64_MAX}), {}).find("is too large"), std::string::npos);
}

TEST(StreamFailure, ASymbolStandsForOneSize) {
  const FunctionDataset dataset(9, {{"x", Dtype::kFloat32, {"T"}}, {"y", Dtype::kUint8, {"T", 1}}},
                                [](int64_t, Sample& out) {
                                  (void)out.allocate(0, Dtype::kFloat32, Shape{3});
                                  (void)out.allocate(1, Dtype::kUint8, Shape{4, 1});
                                });
  EXPECT_NE(failure_of(dataset, {}).find("axis T is 3 in field \"x\" and 4 in field \"y\""), std::string::npos);
}

TEST(StreamFailure, AFieldRetypedBySpecMustBeWritten) {
  const FakeDataset dataset(9);
  const FunctionTransform lazy([](Sample&, Rng&, const When&) {}, {{"image", Dtype::kFloat32, {1, 4, 4}}});
  EXPECT_NE(failure_of(dataset, {node("lazy", lazy)})
                .find("hands on field \"image\" unchanged as uint8[1, 4, 4], but its spec says float32[1, 4, 4]"),
            std::string::npos);
}

TEST(StreamFailure, AFieldThatIsNotThereListsThoseThatAre) {
  const FakeDataset dataset(9);
  const FunctionTransform reads([](Sample& sample, Rng&, const When&) { (void)sample.at("imge"); });
  EXPECT_NE(failure_of(dataset, {node("reads", reads)})
                .find("there is no field \"imge\" at the input; the fields are image, label"),
            std::string::npos);
  const FunctionTransform counts([](Sample& sample, Rng&, const When&) { (void)sample.at(2); });
  EXPECT_NE(failure_of(dataset, {node("counts", counts)}).find("there is no field 2 at the input, which has 2"),
            std::string::npos);
  const FunctionTransform writes(
      [](Sample& sample, Rng&, const When&) { (void)sample.allocate("z", Dtype::kBool, {}); });
  EXPECT_NE(failure_of(dataset, {node("writes", writes)}).find("no field \"z\" at the output"), std::string::npos);
  const FunctionDataset looks(9, {{"x", Dtype::kFloat32, {2}}}, [](int64_t, Sample& out) { (void)out.at("x"); });
  EXPECT_NE(failure_of(looks, {}).find("there is no field \"x\" at the input"), std::string::npos);
}

TEST(StreamFailure, AFieldDoesNotChangeItsShapeWithinACall) {
  const FunctionDataset dataset(9, {{"x", Dtype::kUint8, {Dim()}}}, [](int64_t, Sample& out) {
    (void)out.allocate(0, Dtype::kUint8, Shape{3});
    (void)out.allocate(0, Dtype::kUint8, Shape{4});
  });
  EXPECT_NE(failure_of(dataset, {}).find("allocates field \"x\" as uint8[4] after uint8[3]"), std::string::npos);
}

TEST(StreamSpec, AnErrorKeepsItsCodeAndPointerAndNamesTheNode) {
  const FakeDataset dataset(9);
  class Picky final : public Transform {
   public:
    [[nodiscard]] Spec spec(const Spec&) const override {
      throw Error(ErrorCode::kConfig, "there is no field \"img\"; the fields are image, label", "/field");
    }
    void apply(Sample&, Rng&, const When&) const override {}
  };
  const Picky picky;
  try {
    const Stream stream(node(dataset), {node("picky", picky)}, 7);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    EXPECT_EQ(error.pointer(), "/field");
    EXPECT_STREQ(error.what(), "\"picky\" (transform:picky): there is no field \"img\"; the fields are image, label");
  }
}

TEST(StreamSpec, AFaultySpecIsTheComponentsFault) {
  const auto refused = [](Spec spec) {
    const FunctionDataset dataset = vector_dataset(std::move(spec), {1});
    return error_of(ErrorCode::kPlugin, [&] { const Stream stream(node(dataset), {}, 7); });
  };
  EXPECT_EQ(refused({}), "\"train_set\" (dataset:fake): its spec has no fields");
  EXPECT_EQ(refused({{"x", Dtype::kBool, {}}, {"x", Dtype::kBool, {}}}),
            "\"train_set\" (dataset:fake): its spec names field \"x\" twice");
  EXPECT_EQ(refused({{"x", Dtype::kBool, {-3}}}),
            "\"train_set\" (dataset:fake): its spec gives field \"x\" an axis of -3");
}

}  // namespace
}  // namespace tenon::engine
