// transform:concat.
#include <gtest/gtest.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/harness/memory_sample.hpp>

namespace tenon::test {
namespace {

Made<Transform> concat(const std::string& params) { return make<Transform>("tenon_transforms", "concat", params); }

Spec table() {
  return {{"age", Dtype::kInt32, {}}, {"size", Dtype::kFloat64, {2}}, {"label", Dtype::kInt64, {}},
          {"open", Dtype::kBool, {}}, {"code", Dtype::kUint8, {2}},   {"features", Dtype::kFloat32, {1}}};
}

std::string names(const Spec& spec) {
  std::string all;
  for (const FieldSpec& field : spec) all += field.name + " ";
  return all;
}

const char* const kAll = R"({"fields": ["open", "size", "age", "code"], "into": "x"})";

TEST(Concat, JoinsScalarsAndVectorsInTheOrderListed) {
  MemorySample sample;
  sample.set<int32_t>("age", {}, {40});
  sample.set<double>("size", {2}, {0.1, 7});
  sample.set<bool>("open", {}, {true});
  sample.set<uint8_t>("code", {2}, {255, 3});
  Rng random(1);
  concat(kAll)->apply(sample, random, {});
  EXPECT_EQ(sample.written_shape("x"), (Shape{6}));
  EXPECT_EQ(sample.written<float>("x"), (std::vector<float>{1, 0.1F, 7, 40, 255, 3}));
  EXPECT_EQ(sample.written_fields(), 1U);
}

TEST(Concat, DropsTheJoinedFieldsUnlessTheyAreKept) {
  const Spec dropped = concat(kAll)->spec(table());
  EXPECT_EQ(names(dropped), "label features x ");
  EXPECT_EQ(to_string(dropped.back()), "float32[6]");
  const Spec kept = concat(R"({"fields": ["age", "size"], "into": "x", "keep": true})")->spec(table());
  EXPECT_EQ(names(kept), "age size label open code features x ");
  EXPECT_EQ(to_string(kept.back()), "float32[3]");
}

TEST(Concat, MayTakeTheNameOfAJoinedFieldThatGoes) {
  const Spec out = concat(R"({"fields": ["features", "age"]})")->spec(table());
  EXPECT_EQ(names(out), "size label open code features ");
  EXPECT_EQ(to_string(out.back()), "float32[2]");
}

TEST(Concat, RefusesANameThatIsTaken) {
  const Error taken = error_of([] { (void)concat(R"({"fields": ["age"], "into": "label"})")->spec(table()); });
  EXPECT_EQ(taken.code(), ErrorCode::kConfig);
  EXPECT_EQ(taken.pointer(), "/into");
  EXPECT_EQ(error_of([] { (void)concat(R"({"fields": ["age"], "into": "age", "keep": true})"); }).pointer(), "/into");
  EXPECT_EQ(error_of([] { (void)concat(R"({"fields": ["age", "size", "age"]})"); }).pointer(), "/fields/2");
}

TEST(Concat, RefusesWhatIsNoScalarOrVectorOfNumbers) {
  for (const FieldSpec& field : {FieldSpec{"age", Dtype::kFloat32, {2, 2}}, FieldSpec{"age", Dtype::kUint8, {Dim()}},
                                 FieldSpec{"age", Dtype::kFloat16, {}}}) {
    const Error error = error_of([&] { (void)concat(R"({"fields": ["age"]})")->spec({field}); });
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    EXPECT_EQ(error.pointer(), "/fields/0");
    EXPECT_NE(std::string(error.what()).find(to_string(field)), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tenon::test
