// transform:sometimes around others.
#include <gtest/gtest.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/nesting.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/harness/memory_sample.hpp>
#include <tenon/harness/memory_state.hpp>

namespace tenon::test {
namespace {

/// The outer transform with the inner one that its parameters name, as a host would make them.
struct Pair {
  Made<Transform> inner;
  Made<Transform> outer;
};

Pair sometimes(const std::string& name, const std::string& with, const std::string& probability) {
  Pair pair{make<Transform>("tenon_transforms", name, with),
            make<Transform>("tenon_transforms", "sometimes",
                            R"({"transform": {"use": "transform:)" + name + R"(", "with": )" + with +
                                R"(}, "probability": )" + probability + "}")};
  static_cast<Nesting*>(pair.outer->ability(Nesting::kAbility))->adopt("/transform", *pair.inner);
  return pair;
}

const char* const kDouble = R"({"field": "x", "max": 0.5})";

bool was_applied(const Transform& transform, uint64_t key) {
  MemorySample sample;
  sample.set<float>("x", {2}, {1, 3});
  Rng random(key);
  transform.apply(sample, random, {});
  if (sample.written_fields() == 0) return false;
  EXPECT_EQ(sample.written<float>("x"), (std::vector<float>{2, 6}));
  return true;
}

TEST(Sometimes, AppliesTheOtherWithTheProbabilityGiven) {
  const Pair half = sometimes("to_float", kDouble, "0.25");
  int applied = 0;
  for (uint64_t key = 0; key < 10000; ++key) applied += was_applied(*half.outer, key) ? 1 : 0;
  EXPECT_NEAR(applied, 2500, 4 * 44);  // four deviations
  const Pair never = sometimes("to_float", kDouble, "0");
  const Pair always = sometimes("to_float", kDouble, "1");
  for (uint64_t key = 0; key < 100; ++key) {
    EXPECT_FALSE(was_applied(*never.outer, key));
    EXPECT_TRUE(was_applied(*always.outer, key));
  }
}

TEST(Sometimes, TellsAFaultOfTheOtherAtThePlaceOfItsParameter) {
  const Pair pair = sometimes("copy", R"({"field": "x", "into": "y"})", "1");
  try {
    (void)pair.outer->spec({{"x", Dtype::kFloat32, {2}}, {"y", Dtype::kFloat32, {2}}});
    FAIL() << "there is a field y already";
  } catch (const Error& error) {
    EXPECT_EQ(error.pointer(), "/transform/with/into");
  }
}

TEST(Sometimes, DrawsForItselfFirstAndThenForTheOther) {
  const Pair pair = sometimes("random_shift", R"({"pixels": 3})", "1");
  const std::vector<float> image{1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (uint64_t key = 0; key < 20; ++key) {
    MemorySample ours;
    MemorySample alone;
    for (MemorySample* sample : {&ours, &alone}) sample->set<float>("image", {3, 3}, image);
    Rng random(key);
    pair.outer->apply(ours, random, {});
    Rng same(key);
    (void)same.chance(1);
    pair.inner->apply(alone, same, {});
    EXPECT_EQ(ours.written<float>("image"), alone.written<float>("image"));
  }
}

TEST(Sometimes, RefusesATransformThatChangesTypesOrFields) {
  const Spec in{{"image", Dtype::kUint8, {2}}};
  for (const Pair& pair :
       {sometimes("to_float", "{}", "0.5"), sometimes("copy", R"({"field": "image", "into": "x"})", "0.5")}) {
    const Error error = error_of([&] { (void)pair.outer->spec(in); });
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    EXPECT_EQ(error.pointer(), "/transform");
    EXPECT_NE(std::string(error.what()).find("image uint8[2]"), std::string::npos) << error.what();
  }
  const Spec kept = sometimes("random_shift", "{}", "0.5").outer->spec({{"image", Dtype::kUint8, {2, "W"}}});
  EXPECT_EQ(to_string(kept.at(0)), "uint8[2, W]");
}

TEST(Sometimes, RefusesATransformThatLearns) {
  const Error error = error_of([] { (void)sometimes("standardize", R"({"fields": ["x"]})", "0.5"); });
  EXPECT_EQ(error.code(), ErrorCode::kConfig);
  EXPECT_EQ(error.pointer(), "/transform");
  EXPECT_NE(std::string(error.what()).find("transform:standardize"), std::string::npos) << error.what();
}

TEST(Sometimes, RefusesAnInnerTransformThatRescales) {
  const Error error = error_of([] { (void)sometimes("normalize", R"({"mean": [1], "std": [2]})", "0.5"); });
  EXPECT_EQ(error.code(), ErrorCode::kConfig);
  EXPECT_EQ(error.pointer(), "/transform");
  EXPECT_NE(std::string(error.what()).find("transform:normalize brings fields to another scale"), std::string::npos)
      << error.what();
}

/// Counts nothing and keeps one number.
class Keeper final : public Transform {
 public:
  [[nodiscard]] Spec spec(const Spec& in) const override { return in; }
  void apply(Sample& /*sample*/, Rng& /*random*/, const When& /*when*/) const override {}
  void state(StateIo& io) override { io.io("number", number); }

  int64_t number = 0;
};

TEST(Sometimes, KeepsTheStateOfTheOther) {
  const auto outer =
      make<Transform>("tenon_transforms", "sometimes", R"({"transform": {"use": "transform:random_shift"}})");
  Keeper keeper;
  static_cast<Nesting*>(outer->ability(Nesting::kAbility))->adopt("/transform", keeper);
  keeper.number = 42;
  MemoryState state;
  outer->state(state);
  keeper.number = 0;
  state.restore();
  outer->state(state);
  EXPECT_EQ(keeper.number, 42);
}

TEST(Sometimes, NeedsATransform) {
  const auto pointer = [](const std::string& params) {
    return error_of([&] { (void)make<Transform>("tenon_transforms", "sometimes", params); }).pointer();
  };
  EXPECT_EQ(pointer(R"({"transform": {"use": "transform:copy"}, "probability": 1.5})"), "/probability");
  EXPECT_EQ(error_of([] { (void)make<Transform>("tenon_transforms", "sometimes"); }).code(), ErrorCode::kConfig);
}

}  // namespace
}  // namespace tenon::test
