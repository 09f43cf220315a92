// Transforms that make one sample of several: which ones they get, behind which stages, and whom an error names.
#include <engine/data/stream.hpp>

#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <engine/data/fakes.hpp>
#include <engine/data/samples.hpp>
#include <tenon/components/multi_sample.hpp>

namespace tenon::engine {
namespace {

using fakes::error_of;
using fakes::FakeDataset;
using fakes::node;
using fakes::sample_of;

/// Adds the images of the others and a draw, and keeps their labels in a text of the form "3 17 …".
class Mix : public Transform, public MultiSample {
 public:
  explicit Mix(int64_t others) : others_(others) {}

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<MultiSample*>(this) : nullptr;
  }
  [[nodiscard]] Spec spec(const Spec& in) const override {
    Spec out = in;
    if (find(out, "from") == nullptr) out.push_back({"from", Dtype::kUint8, {Dim()}});
    return out;
  }
  void apply(Sample& /*sample*/, Rng& /*random*/, const When& /*when*/) const override {
    FAIL() << "apply() in place of apply_with()";
  }

  [[nodiscard]] int64_t others() const noexcept override { return others_; }
  void apply_with(Sample& sample, std::span<const Sample* const> others, Rng& random,
                  const When& /*when*/) const override {
    ASSERT_EQ(static_cast<int64_t>(others.size()), others_);
    const Array in = sample.at("image");
    const auto out = sample.allocate("image", in.dtype, in.shape).as<uint8_t>();
    const auto added = static_cast<uint8_t>(random.bits());
    std::string from;
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = static_cast<uint8_t>(in.as<uint8_t>()[i] + added);
      for (const Sample* const other : others)
        out[i] = static_cast<uint8_t>(out[i] + other->at("image").as<uint8_t>()[i]);
    }
    for (const Sample* const other : others) from += std::to_string(other->at(1).as<int64_t>()[0]) + " ";
    const Shape shape{static_cast<int64_t>(from.size())};
    const Array text = sample.allocate("from", Dtype::kUint8, shape);
    std::copy(from.begin(), from.end(), text.as<uint8_t>().begin());
  }

 private:
  int64_t others_;
};

std::vector<int64_t> numbers(const std::string& text) {
  std::vector<int64_t> all;
  const char* at = text.c_str();
  for (char* end = nullptr; *at != '\0'; at = end + 1) all.push_back(std::strtoll(at, &end, 10));
  return all;
}

TEST(MultiSampleStream, TheOthersAreDrawnUniformlyFromTheWholeDataset) {
  constexpr int64_t kItems = 10;
  const FakeDataset dataset(kItems);
  const Mix mix(3);
  const Stream stream(node(dataset), {node("mix", mix)}, 7);
  std::map<int64_t, int64_t> seen;
  for (int64_t i = 0; i < kItems; ++i) {
    for (int64_t epoch = 0; epoch < 100; ++epoch) {
      for (const int64_t other : numbers(sample_of(stream, {i, epoch}).back())) ++seen[other];
    }
  }
  ASSERT_EQ(seen.size(), 10U);
  double chi_squared = 0;
  for (const auto& [item, count] : seen) chi_squared += static_cast<double>((count - 300) * (count - 300)) / 300;
  EXPECT_LT(chi_squared, 27.9);  // of 9 degrees of freedom: exceeded once in a thousand
}

TEST(MultiSampleStream, WhatItDrawsDependsOnTheSamplesKeyAlone) {
  const FakeDataset dataset(50);
  const Mix mix(4);
  const auto of = [&](uint64_t seed, const char* name, const SampleKey& key) {
    return sample_of(Stream(node(dataset), {node(name, mix)}, seed), key).back();
  };
  const std::string first = of(7, "mix", {3, 2});
  EXPECT_EQ(of(7, "mix", {3, 2, 50}), first) << "the planned number of epochs changes the choice";
  EXPECT_NE(of(8, "mix", {3, 2}), first);
  EXPECT_NE(of(7, "other", {3, 2}), first);
  EXPECT_NE(of(7, "mix", {4, 2}), first);
  EXPECT_NE(of(7, "mix", {3, 1}), first);
  EXPECT_NE(of(7, "mix", {3, 2, 1, 1}), first);
}

TEST(MultiSampleStream, DoesNotChangeTheNumbersOfTheTransformItself) {
  const FakeDataset dataset(50);
  const Mix none(0);
  const Stream stream(node(dataset), {node("mix", none)}, 7);
  Rng random(random_key({7, name_key("mix"), 2, 3, 0}));
  const auto added = static_cast<uint8_t>(random.bits());
  const std::string plain = sample_of(Stream(node(dataset), {}, 7), {3, 2}).front();
  EXPECT_EQ(static_cast<uint8_t>(sample_of(stream, {3, 2}).front()[0]), static_cast<uint8_t>(plain[0] + added));
}

TEST(MultiSampleStream, TheOthersComeThroughTheStagesBeforeWithNumbersOfTheirOwn) {
  const FakeDataset dataset(1);  // so that each of the others is the sample itself
  std::vector<std::string> drawn;
  const fakes::FunctionTransform draw([&](Sample& sample, Rng& random, const When&) {
    const Array in = sample.at("image");
    const auto out = sample.allocate("image", in.dtype, in.shape).as<uint8_t>();
    for (uint8_t& value : out) value = static_cast<uint8_t>(random.bits());
    drawn.emplace_back(out.begin(), out.end());
  });
  const Mix mix(2);
  const Stream stream(node(dataset), {node("draw", draw), node("mix", mix)}, 7);
  const std::string mixed = sample_of(stream, {0, 5}).front();
  ASSERT_EQ(drawn.size(), 3U);
  EXPECT_NE(drawn[0], drawn[1]);
  EXPECT_NE(drawn[0], drawn[2]);
  EXPECT_NE(drawn[1], drawn[2]);
  const auto at = [](const std::string& text, std::size_t i) { return static_cast<uint8_t>(text[i]); };
  const auto added = static_cast<uint8_t>(at(mixed, 0) - at(drawn[0], 0) - at(drawn[1], 0) - at(drawn[2], 0));
  for (std::size_t i = 0; i < mixed.size(); ++i) {
    EXPECT_EQ(at(mixed, i), static_cast<uint8_t>(at(drawn[0], i) + at(drawn[1], i) + at(drawn[2], i) + added));
  }
}

TEST(MultiSampleStream, ThoseInARowTakeSamplesOfEachOther) {
  const FakeDataset dataset(30);
  const Mix two(2);
  const Mix three(3);
  const Stream stream(node(dataset), {node("two", two), node("three", three)}, 7);
  const auto first = sample_of(stream, {4, 1});
  EXPECT_EQ(dataset.reads(), 12) << "each of 4 samples comes with 2 others";
  EXPECT_EQ(sample_of(stream, {4, 1}), first);
  Workspace workspace;
  for (int64_t i = 0; i < 30; ++i) {
    fakes::Kept again(stream);
    stream.run({i, 1}, again, workspace);
    EXPECT_EQ(again.fields, sample_of(stream, {i, 1})) << "a used workspace changes sample " << i;
  }
}

TEST(MultiSampleStream, BytesDoNotDependOnThreads) {
  const FakeDataset dataset(64);
  const auto noise = fakes::noise();
  const Mix mix(3);
  class Drop final : public Transform {
   public:
    [[nodiscard]] Spec spec(const Spec& in) const override { return {in[0], in[1]}; }
    void apply(Sample& /*sample*/, Rng& /*random*/, const When& /*when*/) const override {}
  };
  const Drop drop;  // of the texts, which differ in length
  const Stream stream(node(dataset), {node("noise", noise), node("mix", mix), node("drop", drop)}, 7);
  const auto batches = [&](int workers) {
    LoaderOptions options;
    options.node = "train";
    options.batch = 8;
    options.shuffle = true;
    options.workers = workers;
    Loader loader(stream, options);
    return fakes::run(loader, 0, 0, 2);
  };
  EXPECT_EQ(batches(0), batches(4));
}

TEST(MultiSampleStream, AFailureNamesTheSampleThatFailedAndWhoTookIt) {
  FakeDataset dataset(1000);
  dataset.before([](int64_t index) {
    if (index != 3) throw Error(ErrorCode::kData, std::to_string(index) + ".png is cut short");
  });
  const Mix mix(1);
  const std::string message = error_of(ErrorCode::kData, [&] {
    (void)sample_of(Stream(node(dataset), {node("mix", mix)}, 7), {3, 2});
  });
  const std::string other =
      message.substr(message.find("sample ") + 7, message.find(" of ") - message.find("sample ") - 7);
  EXPECT_NE(other, "3");
  EXPECT_EQ(message, "\"train_set\" (dataset:fake), sample " + other +
                         " of \"train_set\", which \"mix\" takes beside sample 3, epoch 2: " + other +
                         ".png is cut short");
  const Mix outer(1);
  const std::string nested = error_of(ErrorCode::kData, [&] {
    (void)sample_of(Stream(node(dataset), {node("mix", mix), node("outer", outer)}, 7), {3, 2});
  });
  EXPECT_NE(nested.find("takes beside sample 3, epoch 2: "), std::string::npos);
}

TEST(MultiSampleStream, TheOthersAreForReadingAlone) {
  class Writes final : public Mix {
   public:
    Writes() : Mix(1) {}
    void apply_with(Sample& /*sample*/, std::span<const Sample* const> others, Rng& /*random*/,
                    const When& /*when*/) const override {
      (void)const_cast<Sample*>(others[0])->allocate("image", Dtype::kUint8, Shape{1, 4, 4});
    }
  };
  const FakeDataset dataset(9);
  const Writes writes;
  EXPECT_EQ(
      error_of(ErrorCode::kData,
               [&] {
                 (void)sample_of(Stream(node(dataset), {node("mix", writes)}, 7), {3, 2});
               }),
      "\"mix\" (transform:mix), sample 3 of \"train_set\", epoch 2: allocates a field of another sample, which is "
      "for reading alone");
}

TEST(MultiSampleStream, FewerThanNoneIsTheTransformsFault) {
  const FakeDataset dataset(9);
  const Mix mix(-1);
  EXPECT_EQ(error_of(ErrorCode::kPlugin, [&] { const Stream stream(node(dataset), {node("mix", mix)}, 7); }),
            "\"mix\" (transform:mix): wants -1 further samples");
}

}  // namespace
}  // namespace tenon::engine
