// Cutout: one black square a sample, wherever its own random numbers say, and nothing else.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include <tenon/components/transform.hpp>
#include <tenon/harness/components.hpp>
#include <tenon/harness/gtest.hpp>
#include <tenon/harness/samples.hpp>

namespace {

using tenon::harness::make;
using tenon::harness::MemorySample;
using tenon::harness::push;
using tenon::harness::refused;

MemorySample bright_image() {
  MemorySample sample;
  sample.set<uint8_t>("image", {1, 8, 8}, std::vector<uint8_t>(64, 200));
  return sample;
}

int64_t masked(const MemorySample& sample) {
  const auto pixels = sample.at("image").as<uint8_t>();
  return std::count(pixels.begin(), pixels.end(), 0);
}

TEST(Cutout, MasksOneSquareOfTheGivenSize) {
  const auto cutout = make<tenon::Transform>("cutout", R"({"size": 3})");
  for (int64_t i = 0; i < 50; ++i) {
    const int64_t count = masked(push(*cutout, bright_image(), {.sample = i}));
    EXPECT_GT(count, 0);
    EXPECT_LE(count, 9);
  }
}

TEST(Cutout, RefusesASizeBelowOne) {
  EXPECT_TRUE(
      refused([] { (void)make<tenon::Transform>("cutout", R"({"size": 0})"); }, tenon::ErrorCode::kConfig, "/size"));
}

}  // namespace
