// transform:one_hot.
#include <gtest/gtest.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/harness/memory_sample.hpp>

namespace tenon::test {
namespace {

const char* const kThree = R"({"fields": ["label"], "classes": 3})";

Made<Transform> one_hot(const std::string& params = kThree) {
  return make<Transform>("tenon_transforms", "one_hot", params);
}

template <class T>
std::vector<float> vector_of(T label) {
  MemorySample sample;
  sample.set<T>("label", {}, {label});
  Rng random(1);
  one_hot()->apply(sample, random, {});
  EXPECT_EQ(sample.written_shape("label"), (Shape{3}));
  return sample.written<float>("label");
}

TEST(OneHot, HasAOneAtThePlaceOfTheClass) {
  EXPECT_EQ(vector_of(int64_t{0}), (std::vector<float>{1, 0, 0}));
  EXPECT_EQ(vector_of(uint8_t{1}), (std::vector<float>{0, 1, 0}));
  EXPECT_EQ(vector_of(int32_t{2}), (std::vector<float>{0, 0, 1}));
}

TEST(OneHot, NamesAnIndexThatIsNoClass) {
  for (const int64_t wrong : {-1, 3}) {
    const Error error = error_of([&] { (void)vector_of(wrong); });
    EXPECT_EQ(error.code(), ErrorCode::kData);
    EXPECT_NE(std::string(error.what()).find("\"label\" is " + std::to_string(wrong)), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("there are 3 (0 to 2)"), std::string::npos) << error.what();
  }
}

TEST(OneHot, TellsTheVectorsItMakes) {
  const Spec out = one_hot()->spec({{"x", Dtype::kFloat64, {2}}, {"label", Dtype::kUint8, {}}});
  EXPECT_EQ(to_string(out[0]), "float64[2]");
  EXPECT_EQ(to_string(out[1]), "float32[3]");
}

TEST(OneHot, RefusesWhatIsNoIndex) {
  for (const FieldSpec& field : {FieldSpec{"label", Dtype::kFloat32, {}}, FieldSpec{"label", Dtype::kUint8, {Dim()}},
                                 FieldSpec{"label", Dtype::kBool, {}}}) {
    const Error error = error_of([&] { (void)one_hot()->spec({field}); });
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    EXPECT_EQ(error.pointer(), "/fields/0");
    EXPECT_NE(std::string(error.what()).find(to_string(field)), std::string::npos) << error.what();
  }
  EXPECT_EQ(error_of([] { (void)one_hot(R"({"fields": ["a", "a"], "classes": 2})"); }).pointer(), "/fields/1");
  EXPECT_EQ(error_of([] { (void)one_hot(R"({"fields": ["a"], "classes": 0})"); }).pointer(), "/classes");
}

}  // namespace
}  // namespace tenon::test
