// Sheets as they come out of the library: pixels of a decoded PNG.
#include <sheet/sheet.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <opencv2/core.hpp>
#include <opencv2/imgcodecs.hpp>

extern "C" tenon::sheet::Painter* tenon_sheet_1() noexcept;

namespace tenon::sheet {
namespace {

using Colour = std::tuple<int, int, int>;  // red, green, blue

cv::Mat drawn(const Sheet& sheet) {
  const std::vector<std::byte> png = tenon_sheet_1()->png(sheet);
  std::vector<uint8_t> bytes(png.size());
  std::memcpy(bytes.data(), png.data(), png.size());
  return cv::imdecode(bytes, cv::IMREAD_COLOR);
}

std::size_t count(const cv::Mat& picture, const Colour& colour) {
  std::size_t pixels = 0;
  for (const auto& pixel : cv::Mat_<cv::Vec3b>(picture)) {
    pixels += Colour{pixel[2], pixel[1], pixel[0]} == colour ? 1U : 0U;
  }
  return pixels;
}

Image plain(int64_t height, int64_t width, const std::vector<uint8_t>& pixel) {
  Image image{height, width, static_cast<int64_t>(pixel.size()), {}};
  for (int64_t i = 0; i < height * width; ++i) image.pixels.insert(image.pixels.end(), pixel.begin(), pixel.end());
  return image;
}

Tile tile_of(Image image) {
  Tile tile;
  tile.image = std::move(image);
  return tile;
}

Sheet one(Tile tile, int64_t side = 100) {
  Sheet sheet;
  sheet.side = side;
  sheet.tiles.push_back(std::move(tile));
  return sheet;
}

TEST(Painter, ImagesKeepTheirColoursAndProportions) {
  EXPECT_EQ(count(drawn(one(tile_of(plain(10, 20, {10, 200, 30})))), {10, 200, 30}), 50U * 100);
  EXPECT_EQ(count(drawn(one(tile_of(plain(400, 200, {1, 2, 250})))), {1, 2, 250}), 100U * 50);
  EXPECT_EQ(count(drawn(one(tile_of(plain(7, 7, {99})))), {99, 99, 99}), 98U * 98);  // by whole factors
}

TEST(Painter, AlphaLetsAChessboardThrough) {
  const cv::Mat picture = drawn(one(tile_of(plain(10, 10, {255, 0, 0, 0}))));
  EXPECT_GT(count(picture, {255, 255, 255}), 4000U);
  EXPECT_GT(count(picture, {204, 204, 204}), 4000U);
  EXPECT_EQ(count(drawn(one(tile_of(plain(10, 10, {255, 0, 0, 255})))), {255, 0, 0}), 100U * 100);
}

TEST(Painter, AMaskColoursItsClassesAndLeavesBackgroundAndIgnoredPixelsClear) {
  Tile tile = tile_of(plain(10, 10, {40, 40, 40}));
  tile.mask.assign(100, 0);
  const cv::Mat clear = drawn(one(tile));
  EXPECT_EQ(count(clear, {40, 40, 40}), 100U * 100);
  tile.mask[0] = 255;
  EXPECT_EQ(count(drawn(one(tile)), {40, 40, 40}), 100U * 100);
  for (std::size_t i = 0; i < 50; ++i) tile.mask[i] = 3;
  const cv::Mat half = drawn(one(tile));
  EXPECT_EQ(count(half, {40, 40, 40}), 50U * 100);
  EXPECT_EQ(count(half, {225, 87, 89}), 2U * 100);  // its outline
}

TEST(Painter, BoxesAreDrawnInTheColourOfTheirClassAtTheirPlace) {
  Tile tile = tile_of(plain(50, 50, {255, 255, 255}));
  tile.boxes.push_back({10, 20, 40, 30, 1, ""});
  const cv::Mat picture = drawn(one(tile));
  EXPECT_GT(count(picture, {242, 142, 43}), 2U * 2 * 60);
  int left = picture.cols;
  int right = 0;
  for (int y = 0; y < picture.rows; ++y) {
    for (int x = 0; x < picture.cols; ++x) {
      if (picture.at<cv::Vec3b>(y, x) != cv::Vec3b(43, 142, 242)) continue;
      left = std::min(left, x);
      right = std::max(right, x);
    }
  }
  EXPECT_NEAR(right - left, 60, 3);
}

TEST(Painter, BoxesBeyondTheImageOrWithoutNumbersDoNoHarm) {
  Tile tile = tile_of(plain(8, 8, {9, 9, 9}));
  tile.boxes.push_back({-1e9, -5, 1e9, 700, -3, "a label that is far too long for an image as small as this one"});
  tile.boxes.push_back({std::nan(""), 0, 1, 1, 0, "x"});
  tile.boxes.push_back({5, 5, 2, 2, 0, ""});
  EXPECT_FALSE(drawn(one(tile)).empty());
}

TEST(Painter, CellsAreEqualAndCaptionsBelow) {
  Sheet sheet;
  sheet.side = 64;
  for (int i = 0; i < 5; ++i) {
    Tile tile = tile_of(plain(32, 32, {static_cast<uint8_t>(100 + i), 0, 0}));
    tile.caption = {"label", "sample"};
    sheet.tiles.push_back(tile);
  }
  const cv::Mat picture = drawn(sheet);
  std::set<int> columns;
  std::set<int> rows;
  for (int i = 0; i < 5; ++i) {
    bool found = false;
    for (int y = 0; y < picture.rows && !found; ++y) {
      for (int x = 0; x < picture.cols && !found; ++x) {
        if (picture.at<cv::Vec3b>(y, x) != cv::Vec3b(0, 0, static_cast<uint8_t>(100 + i))) continue;
        found = true;
        columns.insert(x);
        rows.insert(y);
      }
    }
    ASSERT_TRUE(found) << i;
  }
  EXPECT_EQ(columns.size(), 3U);
  EXPECT_EQ(rows.size(), 2U);
  EXPECT_GT(*rows.rbegin() - *rows.begin(), 64 + 20);
}

TEST(Painter, TextsOfAnySortAreDrawn) {
  Sheet sheet = one(tile_of(plain(8, 8, {9, 9, 9})));
  sheet.title = "Größe · naïve 火 \xff\xc3";
  sheet.subtitle = std::string(5000, 'x');
  sheet.tiles[0].caption = {"", std::string(3, '\n'), "a very long caption that does not fit below such a small image"};
  const cv::Mat titled = drawn(sheet);
  sheet.title.clear();
  EXPECT_GT(titled.rows, drawn(sheet).rows);
}

TEST(Painter, ATileWithoutAnImageShowsItsMessage) {
  Tile tile;
  tile.message = "photos/0001.jpg is cut off";
  const cv::Mat picture = drawn(one(tile));
  EXPECT_GT(count(picture, {252, 233, 231}), 1000U);
  EXPECT_FALSE(drawn(Sheet{}).empty());
}

TEST(Painter, PixelsThatDoNotFitAreRefused) {
  Image image = plain(4, 4, {1, 2, 3});
  image.pixels.pop_back();
  EXPECT_THROW(static_cast<void>(drawn(one(tile_of(image)))), std::runtime_error);
  Tile tile = tile_of(plain(4, 4, {1, 2}));
  EXPECT_THROW(static_cast<void>(drawn(one(tile))), std::runtime_error);
  tile = tile_of(plain(4, 4, {1}));
  tile.mask.assign(15, 1);
  EXPECT_THROW(static_cast<void>(drawn(one(tile))), std::runtime_error);
}

TEST(Painter, LongTextsAreCutInNoTime) {
  Sheet sheet;
  for (int i = 0; i < 16; ++i) {
    Tile tile = tile_of(plain(8, 8, {0, 0, 0}));
    tile.caption.push_back(std::string(200'000, 'm'));
    sheet.tiles.push_back(std::move(tile));
  }
  const auto begin = std::chrono::steady_clock::now();
  const cv::Mat long_texts = drawn(sheet);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  for (Tile& tile : sheet.tiles) tile.caption.front().resize(1000);
  const cv::Mat shorter = drawn(sheet);
  EXPECT_EQ(cv::norm(long_texts, shorter, cv::NORM_INF), 0) << "what is cut off is not seen";
}

}  // namespace
}  // namespace tenon::sheet
