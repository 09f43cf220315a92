// What datasets without files tell of their items without reading them: digits and synthetic.
#include <plugins/datasets/rows.hpp>

namespace tenon::test {
namespace {

TEST(InMemoryDatasets, DigitsLieInMemoryAndTellTheirLabels) {
  for (const char* const split : {"train", "test", "all"}) {
    const auto dataset = opened("digits", {{"split", split}});
    expect_views(*dataset);
    expect_column<int64_t>(*dataset, "label");
    EXPECT_FALSE(ability<Columns>(*dataset)->column("image").has_value());
  }
}

TEST(InMemoryDatasets, SyntheticTellsItsLabelsWithoutMakingSamples) {
  const auto classes = opened("synthetic", {{"size", 100}, {"classes", 7}});
  expect_column<int64_t>(*classes, "label");
  EXPECT_EQ(ability<InMemory>(*classes), nullptr);
  const auto regression = opened("synthetic", {{"size", 10}, {"task", "regression"}});
  EXPECT_FALSE(ability<Columns>(*regression)->column("label").has_value());
}

}  // namespace
}  // namespace tenon::test
