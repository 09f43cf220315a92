// transform:standardize against two passes in long double, and what it refuses.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/harness/memory_sample.hpp>
#include <tenon/harness/memory_state.hpp>

namespace tenon::test {
namespace {

using Rows = std::vector<std::vector<double>>;

Made<Transform> standardize(const std::string& params) {
  return make<Transform>("tenon_transforms", "standardize", params);
}

Fitted& fitted(Transform& transform) { return *static_cast<Fitted*>(transform.ability(Fitted::kAbility)); }

Rescaling rescaling(Transform& transform, const std::string& field) {
  return static_cast<Rescaled*>(transform.ability(Rescaled::kAbility))->rescaling(field).value();
}

template <class T = double>
MemorySample sample_of(const std::string& field, const Shape& shape, const std::vector<T>& values) {
  MemorySample sample;
  sample.set<T>(field, shape, values);
  return sample;
}

/// Learns "x" from vectors.
void fit(Transform& transform, const Rows& rows) {
  fitted(transform).begin();
  for (const std::vector<double>& row : rows) {
    fitted(transform).observe(sample_of("x", {static_cast<int64_t>(row.size())}, row));
  }
  fitted(transform).finish();
}

std::vector<float> applied(const Transform& transform, const Shape& shape, const std::vector<double>& values) {
  MemorySample sample = sample_of("x", shape, values);
  Rng random(1);
  transform.apply(sample, random, {});
  EXPECT_EQ(sample.written_shape("x"), shape);
  return sample.written<float>("x");
}

struct Reference {
  std::vector<double> mean;
  std::vector<double> std;
};

/// The mean first, then the deviations from it.
Reference two_passes(const Rows& rows) {
  Reference all;
  for (std::size_t e = 0; e < rows.front().size(); ++e) {
    long double sum = 0;
    for (const auto& row : rows) sum += row[e];
    const long double mean = sum / static_cast<long double>(rows.size());
    long double squares = 0;
    for (const auto& row : rows) squares += (row[e] - mean) * (row[e] - mean);
    all.mean.push_back(static_cast<double>(mean));
    all.std.push_back(static_cast<double>(std::sqrt(squares / static_cast<long double>(rows.size()))));
  }
  return all;
}

/// Columns of different size, the last one small around a large mean.
Rows drawn(std::size_t count) {
  Rng random(7);
  Rows rows;
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back({random.normal(), 1e6 * random.uniform() - 3, 1e8 + 1e-3 * random.normal()});
  }
  return rows;
}

const char* const kOfX = R"({"fields": ["x"]})";

TEST(Standardize, LearnsTheMeanAndTheDeviationOfEachElement) {
  const Rows rows = drawn(2000);
  const auto transform = standardize(kOfX);
  fit(*transform, rows);
  const Rescaling found = rescaling(*transform, "x");
  const Reference expected = two_passes(rows);
  ASSERT_EQ(found.scale.size(), 3U);
  for (std::size_t e = 0; e < 3; ++e) {
    EXPECT_NEAR(found.offset[e], expected.mean[e], 1e-13 * std::abs(expected.mean[e]) + 1e-15) << e;
    EXPECT_NEAR(found.scale[e] / expected.std[e], 1, e == 2 ? 1e-5 : 1e-12) << e << ": Σx² / n − mean² has no digit";
  }
}

TEST(Standardize, SubtractsAndDividesInFloat64AndRoundsOnce) {
  const Rows rows = drawn(50);
  const auto transform = standardize(kOfX);
  fit(*transform, rows);
  const Rescaling learned = rescaling(*transform, "x");
  for (const std::vector<double>& row : rows) {
    const std::vector<float> out = applied(*transform, {3}, row);
    for (std::size_t e = 0; e < 3; ++e) {
      EXPECT_EQ(out[e], static_cast<float>((row[e] - learned.offset[e]) / learned.scale[e]));
    }
  }
}

TEST(Standardize, IsUndoneByItsRescaling) {
  const Rows rows = drawn(50);
  const auto transform = standardize(kOfX);
  fit(*transform, rows);
  const Rescaling learned = rescaling(*transform, "x");
  const std::vector<float> out = applied(*transform, {3}, rows[11]);
  for (std::size_t e = 0; e < 3; ++e) {
    EXPECT_NEAR(static_cast<double>(out[e]) * learned.scale[e] + learned.offset[e], rows[11][e],
                1e-6 * learned.scale[e]);
  }
  EXPECT_FALSE(static_cast<Rescaled*>(transform->ability(Rescaled::kAbility))->rescaling("y").has_value());
}

TEST(Standardize, DividesAConstantElementByOne) {
  const auto transform = standardize(kOfX);
  fit(*transform, {{0.1, 1}, {0.1, 3}, {0.1, 5}});
  EXPECT_EQ(rescaling(*transform, "x").scale[0], 1);
  EXPECT_EQ(rescaling(*transform, "x").offset[0], 0.1);
  EXPECT_EQ(applied(*transform, {2}, {0.1, 3}), (std::vector<float>{0, 0}));
  EXPECT_EQ(applied(*transform, {2}, {2.1, 3}), (std::vector<float>{2, 0}));
}

TEST(Standardize, CountsAnElementAsConstantUpToTheGivenDeviation) {
  const Rows rows{{1, 10}, {3, 14}};  // deviations 1 and 2
  const auto scale = [&](const std::string& params) {
    const auto transform = standardize(params);
    fit(*transform, rows);
    return rescaling(*transform, "x").scale;
  };
  EXPECT_EQ(scale(R"({"fields": ["x"], "min_std": 0.5})"), (std::vector<double>{1, 2}));
  EXPECT_EQ(scale(R"({"fields": ["x"], "min_std": 2})"), (std::vector<double>{1, 1}));
  EXPECT_EQ(scale(R"({"fields": ["x"], "min_std": 1.5})"), (std::vector<double>{1, 2}));
}

TEST(Standardize, TakesScalarsAndCountsEveryRowOfLargerFields) {
  const auto transform = standardize(R"({"fields": ["series", "age"]})");
  fitted(*transform).begin();
  for (const double offset : {0.0, 10.0}) {
    MemorySample sample = sample_of<double>("series", {2, 2}, {offset, 1, offset + 2, 1});
    sample.set<int16_t>("age", {}, {static_cast<int16_t>(offset)});
    fitted(*transform).observe(sample);
  }
  fitted(*transform).finish();
  EXPECT_EQ(rescaling(*transform, "series").offset, (std::vector<double>{6, 1}));
  EXPECT_NEAR(rescaling(*transform, "series").scale[0], std::sqrt((36.0 + 16 + 16 + 36) / 4), 1e-14);
  EXPECT_EQ(rescaling(*transform, "age").offset, (std::vector<double>{5}));
  EXPECT_EQ(rescaling(*transform, "age").scale, (std::vector<double>{5}));
}

TEST(Standardize, ReadsEveryTypeOfNumbers) {
  const auto transform = standardize(kOfX);
  fit(*transform, {{0}, {2}});
  Rng random(1);
  const auto check = [&]<class T>(T value) {
    MemorySample sample = sample_of<T>("x", {1}, {value});
    transform->apply(sample, random, {});
    EXPECT_EQ(sample.written<float>("x"), (std::vector<float>{static_cast<float>(value) - 1}))
        << name_of(dtype_for<T>());
  };
  check(true);
  check(uint8_t{3});
  check(int8_t{-3});
  check(int16_t{-3});
  check(int32_t{-3});
  check(int64_t{-3});
  check(0.5F);
  check(0.5);
}

TEST(Standardize, TellsThatItsFieldsBecomeFloat32) {
  const Spec out = standardize(R"({"fields": ["b", "c"]})")
                       ->spec({{"a", Dtype::kInt64, {}}, {"b", Dtype::kFloat64, {"T", 3}}, {"c", Dtype::kInt32, {}}});
  EXPECT_EQ(to_string(out[0]), "int64[]");
  EXPECT_EQ(to_string(out[1]), "float32[T, 3]");
  EXPECT_EQ(to_string(out[2]), "float32[]");
}

TEST(Standardize, RefusesFieldsThatAreNoNumbersOfAKnownWidth) {
  const auto refusal = [](Dtype dtype, std::vector<Dim> shape) {
    return error_of([&] { (void)standardize(kOfX)->spec({{"x", dtype, std::move(shape)}}); });
  };
  const Error text = refusal(Dtype::kUint8, {Dim()});
  EXPECT_EQ(text.code(), ErrorCode::kConfig);
  EXPECT_EQ(text.pointer(), "/fields/0");
  EXPECT_NE(std::string(text.what()).find("encode_categories"), std::string::npos) << text.what();
  EXPECT_NE(std::string(refusal(Dtype::kFloat16, {3}).what()).find("float16[3]"), std::string::npos);
  EXPECT_EQ(error_of([] { (void)standardize(R"({"fields": ["a", "b", "a"]})"); }).pointer(), "/fields/2");
  EXPECT_EQ(error_of([] { (void)standardize(R"({"fields": []})"); }).pointer(), "/fields");
}

TEST(Standardize, NamesFieldAndElementOfANumberThatIsNotFinite) {
  const auto transform = standardize(kOfX);
  for (const double wrong : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    fitted(*transform).begin();
    const Error seen = error_of([&] { fitted(*transform).observe(sample_of<double>("x", {3}, {1, 2, wrong})); });
    EXPECT_EQ(seen.code(), ErrorCode::kData);
    EXPECT_NE(std::string(seen.what()).find("element 2 of \"x\" is"), std::string::npos) << seen.what();
    fit(*transform, {{0, 0, 0}, {1, 1, 1}});
    const Error met = error_of([&] { (void)applied(*transform, {3}, {1, wrong, 2}); });
    EXPECT_EQ(met.code(), ErrorCode::kData);
    EXPECT_NE(std::string(met.what()).find("element 1 of \"x\" is"), std::string::npos) << met.what();
  }
  const Error far = error_of([&] { (void)applied(*transform, {3}, {1, 1e300, 2}); });
  EXPECT_NE(std::string(far.what()).find("too far from the training data"), std::string::npos) << far.what();
}

TEST(Standardize, NeedsTwoSamplesOfAReachableSpread) {
  const auto transform = standardize(kOfX);
  for (const Rows& rows : {Rows{}, Rows{{1, 2}}}) {
    const Error error = error_of([&] { fit(*transform, rows); });
    EXPECT_EQ(error.code(), ErrorCode::kData);
    EXPECT_NE(std::string(error.what()).find(std::to_string(rows.size()) + " training sample(s)"), std::string::npos)
        << error.what();
  }
  fitted(*transform).begin();
  fitted(*transform).observe(sample_of<double>("x", {2, 1}, {1, 2}));
  EXPECT_EQ(error_of([&] { fitted(*transform).finish(); }).code(), ErrorCode::kData) << "two rows, but of one sample";
  const Error large = error_of([&] { fit(*transform, {{1e200}, {-1e200}}); });
  EXPECT_NE(std::string(large.what()).find("element 0 of \"x\" are too large"), std::string::npos) << large.what();
}

TEST(Standardize, RefusesAnotherWidthThanItLearned) {
  const auto transform = standardize(kOfX);
  fit(*transform, {{0, 0}, {1, 1}});
  const Error error = error_of([&] { (void)applied(*transform, {3}, {1, 2, 3}); });
  EXPECT_EQ(error.code(), ErrorCode::kData);
  EXPECT_NE(std::string(error.what()).find("3 element(s) along its last axis, but the training data had 2"),
            std::string::npos)
      << error.what();
  EXPECT_EQ(error_of([&] { fit(*transform, {{0, 0}, {1}}); }).code(), ErrorCode::kData);
}

TEST(Standardize, SaysThatItHasLearnedNothingYet) {
  const auto transform = standardize(kOfX);
  const auto refusal = [&] { return std::string(error_of([&] { (void)applied(*transform, {1}, {1}); }).what()); };
  EXPECT_NE(refusal().find("no means and deviations are known yet"), std::string::npos) << refusal();
  EXPECT_THROW((void)rescaling(*transform, "x"), Error);
  fit(*transform, {{0}, {1}});
  fitted(*transform).begin();
  EXPECT_NE(refusal().find("no means and deviations are known yet"), std::string::npos)
      << "what was known is forgotten";
}

TEST(Standardize, KeepsWhatItLearnedToTheBit) {
  const auto before = standardize(kOfX);
  fit(*before, drawn(30));
  MemoryState state;
  before->state(state);
  state.restore();
  const auto after = standardize(kOfX);
  after->state(state);
  EXPECT_EQ(rescaling(*after, "x").scale, rescaling(*before, "x").scale);
  EXPECT_EQ(rescaling(*after, "x").offset, rescaling(*before, "x").offset);
  MemoryState empty;
  standardize(kOfX)->state(empty);
  empty.restore();
  after->state(empty);
  EXPECT_THROW((void)rescaling(*after, "x"), Error) << "nothing was known when this was saved";
}

TEST(Standardize, RefusesStateThatIsDamaged) {
  const auto transform = standardize(kOfX);
  fit(*transform, {{0, 1}, {1, 5}});
  MemoryState state;
  transform->state(state);
  state.restore();
  const auto whole = state.values();
  const auto damage = [&](const auto& change) {
    state.values() = whole;
    change(std::get<MemoryState::Saved>(state.values().at("x/std")));
    return error_of([&] { transform->state(state); }).code();
  };
  EXPECT_EQ(damage([](auto& std) { std::fill(std.bytes.begin(), std.bytes.end(), std::byte{0}); }),
            ErrorCode::kCheckpoint);
  EXPECT_EQ(damage([](auto& std) { std::fill(std.bytes.begin(), std.bytes.end(), std::byte{0xFF}); }),
            ErrorCode::kCheckpoint);
  EXPECT_EQ(damage([](auto& std) { std.shape = {1}; }), ErrorCode::kCheckpoint);
  EXPECT_EQ(damage([](auto& std) { std.dtype = Dtype::kInt64; }), ErrorCode::kCheckpoint);
  EXPECT_EQ(rescaling(*transform, "x").scale, (std::vector<double>{0.5, 2})) << "it stays as it was";
}

}  // namespace
}  // namespace tenon::test
