// The harness on components that this program holds: names, parameters, inner components, samples, states.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenon/components/nesting.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/harness/components.hpp>
#include <tenon/harness/gtest.hpp>
#include <tenon/harness/memory_state.hpp>
#include <tenon/harness/samples.hpp>
#include <tenon/registration.hpp>

namespace tenon::harness {
namespace {

struct AddParams {
  double number = 1;
  TENON_PARAMS(AddParams, tenon::field(&AddParams::number, "number", "What is added").min(0))
};

/// Adds a number and a draw, and counts nothing.
class Add final : public Transform {
 public:
  explicit Add(const AddParams& params) : number_(params.number) {}

  [[nodiscard]] Spec spec(const Spec& in) const override {
    (void)index_of(in, "x");
    return in;
  }
  void apply(Sample& sample, Rng& random, const When& /*when*/) const override {
    const Array x = sample.at("x");
    const auto out = sample.allocate("x", Dtype::kFloat64, x.shape).as<double>();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = x.as<double>()[i] + number_ + random.uniform();
  }
  void state(StateIo& io) override { io.io("number", number_); }

 private:
  double number_;
};

struct TwiceParams {
  Nested inner;
  TENON_PARAMS(TwiceParams,
               tenon::field(&TwiceParams::inner, "inner", "What is done twice").component("transform").required())
};

class Twice final : public Transform, public Nesting {
 public:
  explicit Twice(const TwiceParams& /*params*/) {}
  void* ability(const char* id) noexcept override {
    return std::string_view(id) == kAbility ? static_cast<Nesting*>(this) : nullptr;
  }
  void adopt(std::string_view /*pointer*/, Component& inner) override { inner_ = &static_cast<Transform&>(inner); }
  [[nodiscard]] Spec spec(const Spec& in) const override { return inner_->spec(inner_->spec(in)); }
  void apply(Sample& sample, Rng& random, const When& when) const override { inner_->apply(sample, random, when); }
  void state(StateIo& io) override { InnerState(io, "inner").visit(*inner_); }

 private:
  Transform* inner_ = nullptr;
};

/// Writes where it may only read.
class Scribbles final : public Transform {
 public:
  explicit Scribbles(const NoParams& /*params*/) {}
  [[nodiscard]] Spec spec(const Spec& in) const override { return in; }
  void apply(Sample& sample, Rng& /*random*/, const When& /*when*/) const override {
    sample.at("x").as<double>()[0] = 7;
  }
};

/// Gives a name to two values.
class Doubles final : public Transform {
 public:
  explicit Doubles(const NoParams& /*params*/) {}
  [[nodiscard]] Spec spec(const Spec& in) const override { return in; }
  void apply(Sample& /*sample*/, Rng& /*random*/, const When& /*when*/) const override {}
  void state(StateIo& io) override {
    int64_t number = 1;
    io.io("number", number);
    io.io("number", number);
  }
};

MemorySample two_numbers() {
  MemorySample sample;
  sample.set<double>("x", {2}, {1, 2});
  sample.set<uint8_t>("other", {1}, {9});
  return sample;
}

std::vector<double> numbers(const MemorySample& sample) {
  const auto values = sample.at("x").as<double>();
  return {values.begin(), values.end()};
}

TEST(HarnessComponents, AreMadeByNameFromWhatIsLinked) {
  const auto add = make<Transform>("add", R"({"number": 5})");
  EXPECT_GT(numbers(push(*add, two_numbers()))[0], 5);
  EXPECT_TRUE(refused([] { (void)make<Transform>("ad"); }, ErrorCode::kPlugin, "", "add"));
}

TEST(HarnessComponents, ReportTheirParametersErrorsWithPointer) {
  EXPECT_TRUE(refused([] { (void)make<Transform>("add", R"({"number": -1})"); }, ErrorCode::kConfig, "/number", "-1"));
  EXPECT_TRUE(refused([] { (void)make<Transform>("add", R"({"numbr": 1})"); }, ErrorCode::kConfig, "/numbr"));
}

TEST(HarnessComponents, AreHandedTheirInnerComponents) {
  const auto twice = make<Transform>("twice", R"({"inner": {"use": "transform:add", "with": {"number": 3}}})");
  EXPECT_GE(numbers(push(*twice, two_numbers()))[1], 5);
  EXPECT_EQ(save(*twice).values().count("inner/number"), 1U);
  const auto bad = [] { (void)make<Transform>("twice", R"({"inner": {"use": "transform:none"}})"); };
  EXPECT_TRUE(refused(bad, ErrorCode::kPlugin, "", "none"));
}

TEST(HarnessSamples, HandOnWhatWasNotWritten) {
  const MemorySample after = push(*make<Transform>("add"), two_numbers());
  EXPECT_EQ(after.fields().size(), 2U);
  EXPECT_EQ(after.at("other").as<uint8_t>()[0], 9);
}

TEST(HarnessSamples, DrawTheSameNumbersForTheSameDrawAlone) {
  const auto add = make<Transform>("add");
  const auto with = [&](const Draw& draw) { return numbers(push(*add, two_numbers(), draw)); };
  EXPECT_EQ(with({1, 2, 3, 4}), with({1, 2, 3, 4}));
  EXPECT_NE(with({1, 2, 3, 4}), with({2, 2, 3, 4}));
  EXPECT_NE(with({1, 2, 3, 4}), with({1, 3, 3, 4}));
  EXPECT_NE(with({1, 2, 3, 4}), with({1, 2, 0, 4}));
}

TEST(HarnessSamples, FindChangesOfTheInput) {
  EXPECT_TRUE(
      refused([] { (void)push(*make<Transform>("scribbles"), two_numbers()); }, ErrorCode::kData, "", "in place"));
}

TEST(HarnessSamples, RefuseWhatContradictsTheSpec) {
  MemorySample sample(Spec{{"x", Dtype::kFloat32, {2}}});
  const Shape three{3};
  EXPECT_TRUE(refused([&] { (void)sample.allocate("x", Dtype::kFloat32, three); }, ErrorCode::kData, "", "float32[3]"));
  EXPECT_TRUE(refused([&] { (void)sample.allocate("y", Dtype::kFloat32, three); }, ErrorCode::kData, "", "no field"));
  EXPECT_TRUE(refused([&] { (void)sample.at("z"); }, ErrorCode::kData, "", "no field \"z\""));
}

TEST(HarnessSamples, ReadDatasetsOverItemsInMemory) {
  MemoryDataset items(two_numbers().fields(), {two_numbers(), two_numbers()});
  open(items);
  EXPECT_EQ(items.size(), 2);
  EXPECT_EQ(numbers(read(items, 1)), (std::vector<double>{1, 2}));
  EXPECT_TRUE(refused([&] { (void)read(items, 2); }, ErrorCode::kData));
}

TEST(HarnessState, ComesBackInANewComponent) {
  const auto first = make<Transform>("add", R"({"number": 5})");
  const auto second = make<Transform>("add");
  restore(*second, save(*first));
  EXPECT_EQ(numbers(push(*second, two_numbers())), numbers(push(*first, two_numbers())));
}

TEST(HarnessState, RefusesWhatWasNeverSavedOrHasAnotherType) {
  const auto add = make<Transform>("add");
  EXPECT_TRUE(refused([&] { restore(*add, MemoryState()); }, ErrorCode::kCheckpoint, "", "number"));
  MemoryState state = save(*add);
  state.values()["number"] = true;
  EXPECT_TRUE(refused([&] { restore(*add, state); }, ErrorCode::kCheckpoint, "", "another type"));
}

TEST(HarnessState, FindsNamesThatAreTaken) {
  const auto doubles = make<Transform>("doubles");
  EXPECT_TRUE(refused([&] { (void)save(*doubles); }, ErrorCode::kPlugin, "", "two values"));
}

}  // namespace

TENON_COMPONENT(Add, AddParams, "add", "Adds a number and a draw")
TENON_COMPONENT(Twice, TwiceParams, "twice", "Does something twice")
TENON_COMPONENT(Scribbles, NoParams, "scribbles", "Writes into its input")
TENON_COMPONENT(Doubles, NoParams, "doubles", "Gives one name to two values")

}  // namespace tenon::harness
