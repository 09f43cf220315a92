// transform:encode_categories: what it learns, and what it says of values that it does not know.
#include <gtest/gtest.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/fitted.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/harness/memory_sample.hpp>
#include <tenon/harness/memory_state.hpp>

namespace tenon::test {
namespace {

using Texts = std::vector<std::string>;

Made<Transform> encode(const std::string& params) {
  return make<Transform>("tenon_transforms", "encode_categories", params);
}

Fitted& fitted(Transform& transform) { return *static_cast<Fitted*>(transform.ability(Fitted::kAbility)); }

Texts categories(Transform& transform, const std::string& field = "kind") {
  return static_cast<Categorical*>(transform.ability(Categorical::kAbility))->categories(field).value();
}

void set(MemorySample& sample, const std::string& field, const std::string& text) {
  sample.set<uint8_t>(field, {static_cast<int64_t>(text.size())}, {text.begin(), text.end()});
}

MemorySample sample_of(const std::string& text) {
  MemorySample sample;
  set(sample, "kind", text);
  return sample;
}

void fit(Transform& transform, const Texts& texts) {
  fitted(transform).begin();
  for (const std::string& text : texts) fitted(transform).observe(sample_of(text));
  fitted(transform).finish();
}

int64_t index(const Transform& transform, MemorySample sample) {
  Rng random(1);
  transform.apply(sample, random, {});
  EXPECT_EQ(sample.written_shape("kind"), Shape{});
  return sample.written<int64_t>("kind").at(0);
}

const char* const kLearned = R"({"fields": ["kind"]})";
const char* const kGiven = R"({"fields": ["kind"], "categories": ["virginica", "setosa"]})";

TEST(EncodeCategories, LearnsTheSortedTextsOfTheTrainingData) {
  const auto transform = encode(kLearned);
  fit(*transform, {"b", "a", "ä", "b", "", "B", "a"});
  EXPECT_EQ(categories(*transform), (Texts{"", "B", "a", "b", "ä"}));
  EXPECT_EQ(index(*transform, sample_of("")), 0);
  EXPECT_EQ(index(*transform, sample_of("b")), 3);
  EXPECT_EQ(index(*transform, sample_of("ä")), 4);
}

TEST(EncodeCategories, SortsNumbersByTheirValue) {
  const auto transform = encode(kLearned);
  fitted(*transform).begin();
  for (const int32_t value : {10, -3, 2, 10}) {
    MemorySample sample;
    sample.set<int32_t>("kind", {}, {value});
    fitted(*transform).observe(sample);
  }
  fitted(*transform).finish();
  EXPECT_EQ(categories(*transform), (Texts{"-3", "2", "10"}));
  MemorySample ten;
  ten.set<int64_t>("kind", {}, {10});
  EXPECT_EQ(index(*transform, std::move(ten)), 2);
}

TEST(EncodeCategories, TakesAListInItsOrderWithoutLearning) {
  const auto transform = encode(kGiven);
  EXPECT_EQ(index(*transform, sample_of("virginica")), 0);
  EXPECT_EQ(index(*transform, sample_of("setosa")), 1);
  fit(*transform, {"something else"});
  EXPECT_EQ(categories(*transform), (Texts{"virginica", "setosa"}));
}

TEST(EncodeCategories, LearnsEachFieldOnItsOwn) {
  const auto transform = encode(R"({"fields": ["kind", "colour"]})");
  fitted(*transform).begin();
  for (const auto& [kind, colour] : {std::pair{"x", "red"}, {"y", "blue"}, {"z", "red"}}) {
    MemorySample sample = sample_of(kind);
    set(sample, "colour", colour);
    fitted(*transform).observe(sample);
  }
  fitted(*transform).finish();
  EXPECT_EQ(categories(*transform), (Texts{"x", "y", "z"}));
  EXPECT_EQ(categories(*transform, "colour"), (Texts{"blue", "red"}));
  EXPECT_FALSE(static_cast<Categorical*>(transform->ability(Categorical::kAbility))->categories("size").has_value());
}

TEST(EncodeCategories, NamesFieldTextAndKnownOnesAndProposesTheNearest) {
  const auto refusal = [](const std::string& text) {
    const Error error = error_of([&] { (void)index(*encode(kGiven), sample_of(text)); });
    EXPECT_EQ(error.code(), ErrorCode::kData);
    return std::string(error.what());
  };
  EXPECT_EQ(
      refusal("setossa"),
      "\"kind\" has the unknown category \"setossa\" (did you mean \"setosa\"?); known are \"virginica\", \"setosa\"");
  EXPECT_NE(refusal("VIRGINICA").find("did you mean \"virginica\"?"), std::string::npos);
  EXPECT_EQ(refusal("oak"), "\"kind\" has the unknown category \"oak\"; known are \"virginica\", \"setosa\"");
  EXPECT_NE(refusal("a\n\x1B[0m").find("\"a??[0m\""), std::string::npos) << "no control characters reach a terminal";
  EXPECT_NE(refusal(std::string(59, 'a') + "ü" + std::string(5000, 'b')).find("\"" + std::string(59, 'a') + "…\""),
            std::string::npos)
      << "long texts are cut between characters";
}

TEST(EncodeCategories, ListsTwentyOfManyCategories) {
  const auto transform = encode(kLearned);
  Texts many;
  for (int i = 100; i < 150; ++i) many.push_back("name" + std::to_string(i));
  fit(*transform, many);
  const std::string message = error_of([&] { (void)index(*transform, sample_of("?")); }).what();
  EXPECT_NE(message.find("\"name119\" and 30 more"), std::string::npos) << message;
}

TEST(EncodeCategories, GivesUnknownValuesTheIndexAfterTheLastWhereAsked) {
  const auto transform = encode(R"({"fields": ["kind"], "unknown": "index"})");
  fit(*transform, {"a", "b"});
  EXPECT_EQ(index(*transform, sample_of("c")), 2);
  EXPECT_EQ(index(*transform, sample_of("b")), 1);
  EXPECT_EQ(categories(*transform), (Texts{"a", "b", "(unknown)"}));
}

TEST(EncodeCategories, TellsThatItsFieldsBecomeIndices) {
  const Spec out =
      encode(R"({"fields": ["text", "code"]})")
          ->spec({{"text", Dtype::kUint8, {Dim()}}, {"x", Dtype::kFloat32, {3}}, {"code", Dtype::kInt8, {}}});
  EXPECT_EQ(to_string(out[0]), "int64[]");
  EXPECT_EQ(to_string(out[1]), "float32[3]");
  EXPECT_EQ(to_string(out[2]), "int64[]");
}

TEST(EncodeCategories, RefusesFieldsThatNameNoCategory) {
  for (const FieldSpec& field : {FieldSpec{"kind", Dtype::kFloat32, {}}, FieldSpec{"kind", Dtype::kInt64, {2}},
                                 FieldSpec{"kind", Dtype::kUint8, {2, 2}}, FieldSpec{"kind", Dtype::kBool, {}}}) {
    const Error error = error_of([&] { (void)encode(kLearned)->spec({field}); });
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    EXPECT_EQ(error.pointer(), "/fields/0");
    EXPECT_NE(std::string(error.what()).find(to_string(field)), std::string::npos) << error.what();
  }
}

TEST(EncodeCategories, RefusesListsThatCannotWork) {
  const auto pointer = [](const std::string& params) { return error_of([&] { (void)encode(params); }).pointer(); };
  EXPECT_EQ(pointer(R"({"fields": ["kind"], "categories": ["a", "b", "a"]})"), "/categories/2");
  EXPECT_EQ(pointer(R"({"fields": ["kind"], "categories": []})"), "/categories");
  EXPECT_EQ(pointer(R"({"fields": ["kind", "kind"]})"), "/fields/1");
}

TEST(EncodeCategories, SaysThatItHasLearnedNothingYet) {
  const auto transform = encode(kLearned);
  const Error error = error_of([&] { (void)index(*transform, sample_of("a")); });
  EXPECT_EQ(error.code(), ErrorCode::kData);
  EXPECT_NE(std::string(error.what()).find("no categories are known yet"), std::string::npos) << error.what();
  const Error none = error_of([&] { fit(*transform, {}); });
  EXPECT_EQ(none.code(), ErrorCode::kData);
  EXPECT_NE(std::string(none.what()).find("\"kind\""), std::string::npos) << none.what();
  fit(*transform, {"a"});
  fitted(*transform).begin();
  EXPECT_THROW((void)index(*transform, sample_of("a")), Error) << "what was known is forgotten";
}

TEST(EncodeCategories, KeepsWhatItLearnedWhateverTheBytes) {
  for (const Texts& texts : {Texts{"", "a\nb", std::string("\0\xFF", 2), "ä"}, Texts{""}}) {
    const auto before = encode(kLearned);
    fit(*before, texts);
    MemoryState state;
    before->state(state);
    state.restore();
    const auto after = encode(kLearned);
    after->state(state);
    EXPECT_EQ(categories(*after), categories(*before));
    EXPECT_EQ(index(*after, sample_of(texts.back())), index(*before, sample_of(texts.back())));
  }
}

TEST(EncodeCategories, KeepsNothingOfAListThatIsGiven) {
  MemoryState state;
  encode(kGiven)->state(state);
  EXPECT_TRUE(state.values().empty());
}

TEST(EncodeCategories, RefusesStateThatIsDamaged) {
  const auto transform = encode(kLearned);
  fit(*transform, {"ab", "cd"});
  MemoryState state;
  transform->state(state);
  state.restore();
  const auto whole = state.values();
  const auto damage = [&](const std::string& name, const auto& change) {
    state.values() = whole;
    change(std::get<MemoryState::Saved>(state.values().at(name)));
    return error_of([&] { transform->state(state); }).code();
  };
  const auto shorten = [](auto& array) {
    array.bytes.pop_back();
    --array.shape[0];
  };
  EXPECT_EQ(damage("kind/text", shorten), ErrorCode::kCheckpoint);
  EXPECT_EQ(damage("kind/text",
                   [](auto& array) {
                     array.bytes = {array.bytes[0], array.bytes[1], array.bytes[0], array.bytes[1]};
                   }),
            ErrorCode::kCheckpoint)
      << "one category twice";
  EXPECT_EQ(damage("kind/lengths", [](auto& array) { array.shape = {1}; }), ErrorCode::kCheckpoint);
  EXPECT_EQ(damage("kind/lengths", [](auto& array) { array.bytes[7] = std::byte{0x80}; }), ErrorCode::kCheckpoint);
  EXPECT_EQ(damage("kind/lengths", [](auto& array) { array.dtype = Dtype::kFloat64; }), ErrorCode::kCheckpoint);
  EXPECT_EQ(categories(*transform), (Texts{"ab", "cd"})) << "it stays as it was";
}

}  // namespace
}  // namespace tenon::test
