// MyTransform: known medians, and the same bytes from the GPU as from the CPU.
#include <vector>

#include <gtest/gtest.h>

#include <my_transform_median.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/harness/components.hpp>
#include <tenon/harness/gtest.hpp>
#include <tenon/harness/samples.hpp>
#include <tenon/random.hpp>

namespace {

using tenon::harness::make;
using tenon::harness::MemorySample;
using tenon::harness::push;
using tenon::harness::refused;

std::vector<uint8_t> filtered(const tenon::Shape& shape, const std::vector<uint8_t>& values, const char* params) {
  MemorySample sample;
  sample.set<uint8_t>("image", shape, values);
  const MemorySample out = push(*make<tenon::Transform>("my_transform", params), sample);
  const auto pixels = out.at("image").as<uint8_t>();
  return {pixels.begin(), pixels.end()};
}

TEST(MyTransform, TakesTheMiddleOfTheWindowInsideTheImage) {
  const std::vector<uint8_t> image{9, 1, 1,  //
                                   1, 1, 1,  //
                                   1, 1, 8};
  EXPECT_EQ(filtered({1, 3, 3}, image, R"({"radius": 1})"), std::vector<uint8_t>(9, 1));
  EXPECT_EQ(filtered({1, 1, 4}, {1, 2, 3, 4}, R"({"radius": 1})"), (std::vector<uint8_t>{2, 2, 3, 4}));
  EXPECT_EQ(filtered({1, 3, 3}, image, R"({"radius": 0})"), image);
}

TEST(MyTransform, KeepsChannelsApart) {
  EXPECT_EQ(filtered({2, 1, 2}, {0, 0, 255, 255}, "{}"), (std::vector<uint8_t>{0, 0, 255, 255}));
}

TEST(MyTransform, RefusesWhatIsNoImageOfBytes) {
  MemorySample sample;
  sample.set<float>("image", {1, 1, 2}, {1, 2});
  const auto transform = make<tenon::Transform>("my_transform");
  EXPECT_TRUE(refused([&] { (void)push(*transform, sample); }, tenon::ErrorCode::kConfig, "/field", "uint8 [C, H, W]"));
}

TEST(MyTransform, GivesTheSameBytesOnAGpuAsOnTheCpu) {
  if (!my_transform_plugin::has_gpu()) {
    GTEST_SKIP() << "no GPU that this process may use: only the CPU's half is tested";
  }
  tenon::Rng random(1);
  for (const my_transform_plugin::Images& size : {my_transform_plugin::Images{1, 1, 1}, {3, 17, 40}, {2, 64, 16}}) {
    std::vector<uint8_t> in(static_cast<std::size_t>(size.channels * size.height * size.width));
    for (uint8_t& value : in) value = static_cast<uint8_t>(random.integer(0, 255));
    for (const int64_t radius : {0, 1, 2, 15}) {
      std::vector<uint8_t> cpu(in.size());
      std::vector<uint8_t> gpu(in.size());
      my_transform_plugin::median_on_cpu(in.data(), cpu.data(), size, radius);
      my_transform_plugin::median_on_gpu(in.data(), gpu.data(), size, radius);
      EXPECT_EQ(gpu, cpu) << "radius " << radius << ", " << size.height << " x " << size.width;
    }
  }
}

}  // namespace
