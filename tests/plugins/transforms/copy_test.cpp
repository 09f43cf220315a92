// transform:copy.
#include <gtest/gtest.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/harness/memory_sample.hpp>

namespace tenon::test {
namespace {

Made<Transform> copy(const std::string& into = "second") {
  return make<Transform>("tenon_transforms", "copy", R"({"field": "image", "into": ")" + into + "\"}");
}

TEST(Copy, GivesTheSameValuesUnderTheSecondName) {
  MemorySample sample;
  sample.set<int16_t>("image", {2, 2}, {1, -2, 3, 4});
  Rng random(1);
  copy()->apply(sample, random, {});
  EXPECT_EQ(sample.written_shape("second"), (Shape{2, 2}));
  EXPECT_EQ(sample.written<int16_t>("second"), (std::vector<int16_t>{1, -2, 3, 4}));
  EXPECT_EQ(sample.written_fields(), 1U) << "the first one is handed on";
}

TEST(Copy, AddsAFieldOfTheSameTypeAndShape) {
  const Spec out = copy()->spec({{"image", Dtype::kInt16, {"H", 2}}, {"label", Dtype::kInt64, {}}});
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(out[2].name, "second");
  EXPECT_EQ(to_string(out[0]), to_string(out[2]));
}

TEST(Copy, RefusesANameThatIsTaken) {
  for (const std::string taken : {"label", "image"}) {
    const Error error = error_of([&] {
      (void)copy(taken)->spec({{"image", Dtype::kInt16, {}}, {"label", Dtype::kInt64, {}}});
    });
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    EXPECT_EQ(error.pointer(), "/into");
  }
}

}  // namespace
}  // namespace tenon::test
