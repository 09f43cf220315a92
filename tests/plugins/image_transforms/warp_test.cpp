// Rotation, affine maps and perspectives against plain arithmetic at each pixel.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include <plugins/image_transforms/pictures.hpp>

namespace tenon::test {
namespace {

TEST(RandomRotation, TurnsByWholeQuartersWithoutLoss) {
  const Picture in = noise(6, 6, 3);
  for (const std::string mode : {"nearest", "bilinear"}) {
    const Picture quarter =
        applied("random_rotation", R"({"degrees": [90, 90], "interpolation": ")" + mode + "\"}", in);
    const Picture half = applied("random_rotation", R"({"degrees": [180, 180], "interpolation": ")" + mode + "\"}", in);
    for (int64_t y = 0; y < 6; ++y) {
      for (int64_t x = 0; x < 6; ++x) {
        for (int64_t c = 0; c < 3; ++c) {
          EXPECT_EQ(quarter.at(y, x, c), in.at(x, 5 - y, c)) << mode << " counter-clockwise";
          EXPECT_EQ(half.at(y, x, c), in.at(5 - y, 5 - x, c)) << mode;
        }
      }
    }
  }
}

TEST(RandomRotation, NearestTakesThePixelThatTheTurnComesFrom) {
  const Picture in = noise(21, 30, 1);
  const double turn = 25 * std::numbers::pi / 180;
  const Picture out =
      applied("random_rotation", R"({"degrees": [25, 25], "interpolation": "nearest", "fill": [77]})", in);
  int wrong = 0;
  for (int64_t y = 0; y < in.height; ++y) {
    for (int64_t x = 0; x < in.width; ++x) {
      const double right = static_cast<double>(x) - 14.5;
      const double down = static_cast<double>(y) - 10;
      const double from_x = std::cos(turn) * right - std::sin(turn) * down + 14.5;
      const double from_y = std::sin(turn) * right + std::cos(turn) * down + 10;
      const auto column = static_cast<int64_t>(std::lround(from_x));
      const auto row = static_cast<int64_t>(std::lround(from_y));
      const bool within = row >= 0 && row < in.height && column >= 0 && column < in.width;
      wrong += out.at(y, x) == (within ? in.at(row, column) : 77) ? 0 : 1;
    }
  }
  EXPECT_LE(wrong, 2) << "but for ties";
}

TEST(RandomAffine, MovesByWholePixels) {
  const Picture in = noise(20, 20, 3);
  const auto affine = image_transform("random_affine", R"({"degrees": [0], "translate": [0.1, 0.2]})");
  bool moved = false;
  for (uint64_t key = 0; key < 40; ++key) {
    const Picture out = applied(*affine, in, key);
    bool found = false;
    for (int64_t down = -4; down <= 4 && !found; ++down) {
      for (int64_t right = -2; right <= 2 && !found; ++right) {
        Picture expected(20, 20, 3);
        for (int64_t y = std::max<int64_t>(down, 0); y < std::min<int64_t>(20, 20 + down); ++y) {
          for (int64_t x = std::max<int64_t>(right, 0); x < std::min<int64_t>(20, 20 + right); ++x) {
            for (int64_t c = 0; c < 3; ++c) expected.at(y, x, c) = in.at(y - down, x - right, c);
          }
        }
        found = out == expected;
        moved = moved || (found && (down != 0 || right != 0));
      }
    }
    EXPECT_TRUE(found) << key;
  }
  EXPECT_TRUE(moved);
}

TEST(RandomAffine, NothingToDoHandsTheImageOn) {
  MemorySample sample = sample_of(noise(4, 5, 3));
  Rng random(1);
  image_transform("random_affine", R"({"degrees": [0]})")->apply(sample, random, {});
  EXPECT_EQ(sample.written_fields(), 0U);
}

TEST(Warps, MoveAlphaWithTheColours) {
  const Picture in = noise(17, 22, 4);
  for (const auto& [name, params] : std::vector<std::pair<std::string, std::string>>{
           {"random_rotation", R"({"degrees": [33, 33]})"},
           {"random_affine", R"({"degrees": [20], "scale": [0.7, 1.4], "shear": [10]})"},
           {"random_perspective", R"({"p": 1})"},
           {"random_resized_crop", R"({"height": 11, "width": 9})"},
           {"resize", R"({"height": 9, "width": 30, "interpolation": "bicubic"})"}}) {
    const Picture out = applied(name, params, in, 5);
    for (int64_t c = 0; c < 4; ++c) {
      EXPECT_EQ(channel_of(out, c), applied(name, params, channel_of(in, c), 5)) << name << ", channel " << c;
    }
  }
}

TEST(Warps, TakeImagesOfOnePixel) {
  const Picture one = noise(1, 1, 3);
  EXPECT_EQ(applied("random_perspective", R"({"p": 1})", one), one);
  EXPECT_EQ(applied("random_rotation", R"({"degrees": [45, 45], "interpolation": "nearest"})", one), one);
  EXPECT_EQ(applied("random_affine", R"({"degrees": [45], "shear": [30], "interpolation": "nearest"})", one), one);
  for (uint64_t key = 0; key < 50; ++key) {
    for (const auto& [height, width] : {std::pair{1, 2}, std::pair{2, 2}, std::pair{3, 1}}) {
      const Picture in = noise(height, width, 1);
      EXPECT_EQ(applied("random_perspective", R"({"p": 1, "distortion_scale": 1})", in, key).shape(), in.shape());
    }
  }
}

TEST(Warps, RefuseAnImageThatIsTooLong) {
  const Error error =
      error_of([] { (void)applied("random_rotation", R"({"degrees": [3, 3]})", Picture(1, 40000, 1)); });
  EXPECT_EQ(error.code(), ErrorCode::kData);
  EXPECT_NE(std::string(error.what()).find("1 x 40000"), std::string::npos) << error.what();
}

TEST(Warps, RefuseParametersOfTheWrongForm) {
  const auto pointer = [](const std::string& name, const std::string& params) {
    return error_of([&] { (void)image_transform(name, params); }).pointer();
  };
  EXPECT_EQ(pointer("random_rotation", R"({"degrees": [-5]})"), "/degrees");
  EXPECT_EQ(pointer("random_rotation", R"({"degrees": [5, 4]})"), "/degrees");
  EXPECT_EQ(pointer("random_affine", R"({"degrees": [1], "translate": [0.1, 0.1, 0.1]})"), "/translate");
  EXPECT_EQ(pointer("random_affine", R"({"degrees": [1], "scale": [2, 1]})"), "/scale");
  EXPECT_EQ(pointer("random_affine", R"({"degrees": [1], "shear": [1, 2, 3]})"), "/shear");
}

}  // namespace
}  // namespace tenon::test
