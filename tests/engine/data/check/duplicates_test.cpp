// Equal samples within a part and between two.
#include <engine/data/check/duplicates.hpp>

#include <vector>

#include <gtest/gtest.h>

namespace tenon::engine {
namespace {

struct Part {
  std::vector<int64_t> samples;
  std::vector<uint64_t> hashes;

  operator HashedSamples() const { return {samples, hashes}; }  // NOLINT(google-explicit-constructor): for brevity
};

void expect_pairs(const SameSamples& same, const std::vector<SamePair>& expected) {
  EXPECT_EQ(same.count, static_cast<int64_t>(expected.size()));
  EXPECT_EQ(same.examples, expected);
}

TEST(Duplicates, WithinAPartAreToldOfTheLaterSamplesWithTheFirst) {
  const Part part{{0, 1, 2, 3, 4, 5}, {7, 9, 7, 3, 7, 9}};
  expect_pairs(repeated(part, 5), {{2, 0}, {4, 0}, {5, 1}});
}

TEST(Duplicates, BetweenPartsCountEachSampleOnceWithTheFirstTwin) {
  const Part test{{10, 20, 30, 40}, {5, 1, 5, 8}};
  const Part train{{0, 1, 2, 3}, {8, 5, 2, 5}};
  expect_pairs(shared(test, train, 5), {{10, 1}, {30, 1}, {40, 0}});
}

TEST(Duplicates, AreCountedAllAndShownInPart) {
  const Part part{{0, 1, 2, 3, 4}, {6, 6, 6, 6, 6}};
  const SameSamples same = repeated(part, 2);
  EXPECT_EQ(same.count, 4);
  EXPECT_EQ(same.examples, (std::vector<SamePair>{{1, 0}, {2, 0}}));
}

TEST(Duplicates, SamplesThatCouldNotBeReadEqualNothing) {
  const Part part{{0, 1, 2}, {0, 0, 4}};
  expect_pairs(repeated(part, 5), {});
  expect_pairs(shared(part, part, 5), {{2, 2}});
}

}  // namespace
}  // namespace tenon::engine
