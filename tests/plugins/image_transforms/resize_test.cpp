// transform:resize against a plain resampler, and what it refuses.
#include <cmath>

#include <gtest/gtest.h>

#include <plugins/image_transforms/pictures.hpp>

namespace tenon::test {
namespace {

double kernel(bool bicubic, double x) {
  x = std::abs(x);
  if (!bicubic) return std::max(0.0, 1 - x);
  if (x < 1) return ((-0.5 + 2) * x - (-0.5 + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * -0.5 : 0;
}

/// One axis of one line, with weights of 22 bits, pixel by pixel.
std::vector<uint8_t> line(const std::vector<uint8_t>& in, int64_t out, bool bicubic) {
  const auto length = static_cast<int64_t>(in.size());
  if (length == out) return in;
  const double scale = static_cast<double>(length) / static_cast<double>(out);
  const double wide = std::max(scale, 1.0);
  const double support = (bicubic ? 2.0 : 1.0) * wide;
  std::vector<uint8_t> made;
  for (int64_t i = 0; i < out; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    const int64_t first = std::max<int64_t>(0, static_cast<int64_t>(std::floor(centre - support + 0.5)));
    const int64_t last = std::min<int64_t>(length, static_cast<int64_t>(std::floor(centre + support + 0.5)));
    std::vector<double> weights;
    double sum = 0;
    for (int64_t k = first; k < last; ++k) {
      weights.push_back(kernel(bicubic, (static_cast<double>(k) - centre + 0.5) * (1 / wide)));
      sum += weights.back();
    }
    int64_t value = int64_t{1} << 21;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const double share = weights[k] / sum * (1 << 22);
      value += static_cast<int64_t>(share < 0 ? share - 0.5 : share + 0.5) * in[static_cast<std::size_t>(first) + k];
    }
    made.push_back(static_cast<uint8_t>(std::clamp<int64_t>(value >> 22, 0, 255)));
  }
  return made;
}

Picture resized(const Picture& in, int64_t height, int64_t width, bool bicubic) {
  Picture wide(in.height, width, in.channels);
  for (int64_t y = 0; y < in.height; ++y) {
    for (int64_t c = 0; c < in.channels; ++c) {
      std::vector<uint8_t> row;
      for (int64_t x = 0; x < in.width; ++x) row.push_back(in.at(y, x, c));
      const std::vector<uint8_t> made = line(row, width, bicubic);
      for (int64_t x = 0; x < width; ++x) wide.at(y, x, c) = made[static_cast<std::size_t>(x)];
    }
  }
  Picture out(height, width, in.channels);
  for (int64_t x = 0; x < width; ++x) {
    for (int64_t c = 0; c < in.channels; ++c) {
      std::vector<uint8_t> column;
      for (int64_t y = 0; y < in.height; ++y) column.push_back(wide.at(y, x, c));
      const std::vector<uint8_t> made = line(column, height, bicubic);
      for (int64_t y = 0; y < height; ++y) out.at(y, x, c) = made[static_cast<std::size_t>(y)];
    }
  }
  return out;
}

TEST(Resize, IsEqualToAPlainResamplerToTheByte) {
  Rng random(7);
  for (int i = 0; i < 120; ++i) {
    const int64_t channels = std::vector<int64_t>{1, 3, 4}[static_cast<std::size_t>(random.integer(0, 2))];
    const int64_t height = random.integer(1, 70);
    const int64_t width = random.integer(1, 70);
    const int64_t to_height = random.integer(1, 50);
    const int64_t to_width = random.integer(1, 50);
    const bool bicubic = random.chance(0.5);
    const Picture in = noise(height, width, channels, static_cast<uint64_t>(i));
    const std::string mode = bicubic ? R"(, "interpolation": "bicubic")" : "";
    EXPECT_EQ(applied("resize", size(to_height, to_width, mode), in), resized(in, to_height, to_width, bicubic))
        << height << " x " << width << " x " << channels << " to " << to_height << " x " << to_width << mode;
  }
}

TEST(Resize, NearestTakesThePixelWhoseCentreIsNearest) {
  Picture in(1, 4, 1);
  in.bytes = {10, 20, 30, 40};
  const std::string nearest = R"(, "interpolation": "nearest")";
  EXPECT_EQ(applied("resize", size(1, 2, nearest), in).bytes, (std::vector<uint8_t>{20, 40}));
  EXPECT_EQ(applied("resize", size(2, 8, nearest), in).bytes,
            (std::vector<uint8_t>{10, 10, 20, 20, 30, 30, 40, 40, 10, 10, 20, 20, 30, 30, 40, 40}));
}

TEST(Resize, AreaAveragesTheAreaOfAPixel) {
  Picture in(2, 4, 1);
  in.bytes = {0, 4, 100, 104, 8, 12, 108, 112};
  EXPECT_EQ(applied("resize", size(1, 2, R"(, "interpolation": "area")"), in).bytes, (std::vector<uint8_t>{6, 106}));
}

TEST(Resize, WithoutAntialiasOnlyNeighboursCount) {
  Picture in(1, 8, 1);
  in.bytes = {0, 0, 0, 200, 100, 0, 0, 0};
  EXPECT_EQ(applied("resize", size(1, 1, R"(, "antialias": false)"), in).bytes, (std::vector<uint8_t>{150}));
  EXPECT_LT(applied("resize", size(1, 1), in).bytes[0], 80);
}

TEST(Resize, TheSameSizeHandsTheImageOn) {
  MemorySample sample = sample_of(noise(5, 6, 3));
  Rng random(1);
  image_transform("resize", size(5, 6))->apply(sample, random, {});
  EXPECT_EQ(sample.written_fields(), 0U);
}

TEST(Resize, KeepsTheShapeBySizeOfTheShorterSide) {
  EXPECT_EQ(applied("resize", R"({"size": 10})", noise(20, 33, 3)).shape(), (Shape{10, 16, 3}));
  EXPECT_EQ(applied("resize", R"({"size": 10})", noise(33, 20, 3)).shape(), (Shape{16, 10, 3}));
  EXPECT_EQ(applied("resize", R"({"size": 10, "max_size": 12})", noise(20, 33, 3)).shape(), (Shape{7, 12, 3}));
  EXPECT_EQ(applied("resize", R"({"size": 10, "max_size": 12})", noise(400, 1, 3)).shape(), (Shape{12, 1, 3}));
}

TEST(Resize, TellsTheSizeThatComesOut) {
  const Spec in{{"image", Dtype::kUint8, {"H", "W", 3}}, {"mask", Dtype::kUint8, {"H", "W"}}};
  const Spec fixed = image_transform("resize", size(4, 5, R"(, "masks": ["mask"])"))->spec(in);
  EXPECT_EQ(to_string(fixed[0]), "uint8[4, 5, 3]");
  EXPECT_EQ(to_string(fixed[1]), "uint8[4, 5]");
  const Spec free = image_transform("resize", R"({"size": 4, "masks": ["mask"]})")->spec(in);
  EXPECT_EQ(to_string(free[0]), "uint8[h, w, 3]");
  EXPECT_EQ(to_string(free[1]), "uint8[h, w]");
}

TEST(Resize, RefusesSizesThatContradictEachOther) {
  const auto pointer = [](const std::string& params) {
    return error_of([&] { (void)image_transform("resize", params); }).pointer();
  };
  EXPECT_EQ(pointer("{}"), "/size");
  EXPECT_EQ(pointer(R"({"height": 4})"), "/width");
  EXPECT_EQ(pointer(R"({"width": 4})"), "/height");
  EXPECT_EQ(pointer(R"({"height": 4, "width": 4, "size": 4})"), "/size");
  EXPECT_EQ(pointer(R"({"height": 4, "width": 4, "max_size": 4})"), "/max_size");
  EXPECT_EQ(pointer(R"({"size": 4, "max_size": 3})"), "/max_size");
  EXPECT_EQ(pointer(R"({"height": 0, "width": 4})"), "/height");
}

TEST(Resize, RefusesAnImageWhoseSideWouldBeEndless) {
  const Error error = error_of([] { (void)applied("resize", R"({"size": 16384})", noise(1, 6, 1)); });
  EXPECT_EQ(error.code(), ErrorCode::kData);
  EXPECT_NE(std::string(error.what()).find("set max_size"), std::string::npos) << error.what();
}

TEST(Resize, RefusesWhatIsNoImage) {
  const auto refusal = [](Dtype dtype, std::vector<Dim> shape) {
    return error_of([&] { (void)image_transform("resize", size(2, 2))->spec({{"image", dtype, std::move(shape)}}); });
  };
  for (const Error& error : {refusal(Dtype::kFloat32, {8, 8, 3}), refusal(Dtype::kUint8, {3, 8, 8}),
                             refusal(Dtype::kUint8, {8, 8}), refusal(Dtype::kUint8, {8, 8, 2})}) {
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    EXPECT_EQ(error.pointer(), "/image");
  }
  MemorySample sample;
  sample.set<uint8_t>("image", {0, 4, 3}, {});
  Rng random(1);
  const Error empty = error_of([&] { image_transform("resize", size(2, 2))->apply(sample, random, {}); });
  EXPECT_EQ(empty.code(), ErrorCode::kData);
  EXPECT_STREQ(empty.what(), "\"image\" has no pixels");
}

}  // namespace
}  // namespace tenon::test
