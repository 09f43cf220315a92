// dataset:tiles: where tiles lie, and that they hold what lies there.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <thread>

#include <plugins/datasets/rows.hpp>
#include <plugins/image_datasets/images.hpp>

namespace tenon::test {
namespace {

class Tiles : public testing::Test {
 protected:
  Tiles() { put(folder_ / "large.pgm", slope(7, 5)); }

  [[nodiscard]] Json params(const Json& more = Json::object()) const {
    Json json{{"path", folder_ / "large.pgm"}, {"height", 2}, {"width", 3}, {"color", "grey"}};
    json.update(more);
    return json;
  }

  /// Top and left of all tiles.
  static std::vector<int64_t> origins(const Dataset& dataset) { return column<int64_t>(dataset, "origin"); }

  TemporaryFolder folder_;
};

TEST_F(Tiles, CoverTheImageAndMoveTheLastOnesInwards) {
  const auto dataset = images_opened("tiles", params());
  EXPECT_EQ(text_of(dataset->spec()), "image uint8[2, 3, 1], origin int64[2], number int64[]");
  EXPECT_EQ(origins(*dataset), (std::vector<int64_t>{0, 0, 0, 3, 0, 4, 2, 0, 2, 3, 2, 4, 3, 0, 3, 3, 3, 4}));
  EXPECT_EQ(field_of<uint8_t>(*dataset, 5, "image"), (std::vector<uint8_t>{19, 20, 21, 26, 27, 28}));
}

/// All sizes of images, tiles and overlaps up to 9: every pixel is in a tile, no tile leaves the image, neighbours
/// share the overlap, and no tile could be left out.
TEST_F(Tiles, CoverEveryPixelWithTheOverlapForEverySize) {
  for (int64_t width = 1; width <= 9; ++width) {
    put(folder_ / "row.pgm", slope(static_cast<std::size_t>(width), 9));
    for (int64_t tile = 1; tile <= width; ++tile) {
      for (int64_t overlap = 0; overlap < tile; ++overlap) {
        const auto dataset = images_opened(
            "tiles",
            {{"path", folder_ / "row.pgm"}, {"height", 9}, {"width", tile}, {"overlap", overlap}, {"color", "grey"}});
        const std::vector<int64_t> lefts = origins(*dataset);
        int64_t end = overlap;
        for (std::size_t i = 1; i < lefts.size(); i += 2) {
          EXPECT_LE(lefts[i], end - overlap);
          EXPECT_GT(lefts[i] + tile, end) << "a tile adds pixels";
          end = lefts[i] + tile;
        }
        EXPECT_EQ(end, width) << width << " " << tile << " " << overlap;
      }
    }
  }
}

TEST_F(Tiles, NumbersTheImagesOfAFolder) {
  put(folder_ / "many/a.pgm", slope(3, 2, 1));
  put(folder_ / "many/b.pgm", slope(4, 2, 50));
  const auto dataset = images_opened("tiles", params({{"path", folder_ / "many"}}));
  EXPECT_EQ(column<int64_t>(*dataset, "number"), (std::vector<int64_t>{0, 1, 1}));
  EXPECT_EQ(item_name(*dataset, 2), (folder_ / "many/b.pgm").string() + ", tile at column 1, row 0");
  EXPECT_EQ(ability<Columns>(*dataset)->column("number"), (std::vector<double>{0, 1, 1}));
  EXPECT_EQ(field_of<uint8_t>(*dataset, 2, "image"), (std::vector<uint8_t>{51, 52, 53, 55, 56, 57}));
}

TEST_F(Tiles, ImagesSmallerThanATileAreAnErrorOrLeftOut) {
  put(folder_ / "many/a.pgm", slope(2, 2));
  expect_error(images_refused("tiles", params({{"path", folder_ / "many"}})), ErrorCode::kData, "/path",
               {"a.pgm: is 2 high and 2 wide", "\"smaller\": \"skip\""});
  expect_error(images_refused("tiles", params({{"path", folder_ / "many"}, {"smaller", "skip"}})), ErrorCode::kData,
               "/path", {"no image is as large as a tile"});
  put(folder_ / "many/b.pgm", slope(3, 2));
  const auto dataset = images_opened("tiles", params({{"path", folder_ / "many"}, {"smaller", "skip"}}));
  EXPECT_EQ(dataset->size(), 1);
  EXPECT_NE(joined(remarks_of(*dataset)).find("1 image is smaller than a tile"), std::string::npos);
}

TEST_F(Tiles, CutMasksAtTheSamePlaces) {
  put(folder_ / "mask.pgm", pgm(7, 5, std::string(34, '\0') + "\1"));
  const auto dataset = images_opened("tiles", params({{"masks", folder_ / "mask.pgm"}, {"classes", 2}}));
  EXPECT_EQ(field_of<uint8_t>(*dataset, 8, "mask"), (std::vector<uint8_t>{0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(ability<PartialRead>(*dataset), nullptr) << "a region of the image alone would leave the mask behind";
  put(folder_ / "mask.pgm", pgm(7, 4, std::string(28, '\0')));
  expect_error(unreadable(*images_opened("tiles", params({{"masks", folder_ / "mask.pgm"}, {"classes", 2}})), 0),
               ErrorCode::kData, "", {"mask.pgm", "large.pgm", "another size"});
}

TEST_F(Tiles, ReadRegionsOfATile) {
  const auto dataset = images_opened("tiles", params());
  MemorySample sample(dataset->spec());
  ability<PartialRead>(*dataset)->read_part(
      5,
      [](const Extent& whole) {
        EXPECT_EQ(whole, (Extent{2, 3}));
        return Region{0, 0, 2, 3};
      },
      sample);
  EXPECT_EQ(sample.written<uint8_t>("image"), (std::vector<uint8_t>{19, 20, 21, 26, 27, 28}));
}

TEST_F(Tiles, RefuseAnOverlapAsLargeAsATileAndMasksWithoutClasses) {
  expect_error(images_refused("tiles", params({{"overlap", 2}})), ErrorCode::kConfig, "/overlap", {"give less"});
  expect_error(images_refused("tiles", params({{"masks", "m"}})), ErrorCode::kConfig, "/classes", {"go together"});
  expect_error(images_refused("tiles", params({{"classes", 2}})), ErrorCode::kConfig, "/masks", {"go together"});
}

TEST_F(Tiles, FingerprintIsThatOfTheContent) {
  put(folder_ / "many/a.pgm", slope(7, 5));
  put(folder_ / "many/b.pgm", slope(7, 5));
  put(folder_ / "mask.pgm", pgm(7, 5, std::string(35, '\0')));
  const auto print = [&](const Json& more) { return images_opened("tiles", params(more))->fingerprint(); };
  const Json many{{"path", folder_ / "many"}};
  const Json masked{{"masks", folder_ / "mask.pgm"}, {"classes", 2}};
  const std::string one = print(Json::object());
  const std::string all = print(many);
  const std::string pairs = print(masked);
  put(folder_ / "copy.pgm", slope(7, 5));
  EXPECT_EQ(print({{"path", folder_ / "copy.pgm"}}), one);
  put(folder_ / "copy.pgm", slope(7, 5, 2));
  EXPECT_NE(print({{"path", folder_ / "copy.pgm"}}), one) << "other pixels of the same size";
  put(folder_ / "many/b.pgm", slope(7, 5, 2));
  EXPECT_NE(print(many), all);
  put(folder_ / "mask.pgm", pgm(7, 5, std::string(34, '\0') + "\1"));
  EXPECT_NE(print(masked), pairs);
}

TEST_F(Tiles, OpeningReadsHeadersAlone) {
  constexpr std::size_t kSide = std::size_t{1} << 15U;
  std::filesystem::create_directories(folder_ / "huge");
  for (const char* const name : {"huge/a.pgm", "huge/b.pgm"}) {
    const std::string header = pgm(kSide, kSide, "");
    put(folder_ / name, header);
    std::filesystem::resize_file(folder_ / name, header.size() + kSide * kSide);  // a hole of 1 GiB
  }
  const int64_t before = own_memory();
  const auto dataset = images_opened("tiles", params({{"path", folder_ / "huge"}, {"height", 1024}, {"width", 1024}}));
  EXPECT_EQ(dataset->size(), 2 * 32 * 32);
  if (before >= 0) {
    EXPECT_LT(own_memory() - before, 20 * 1024);
  }
}

TEST_F(Tiles, TheFirstOfSeveralFilesThatAreWrongIsNamed) {
  for (int i = 0; i < 50; ++i) put(folder_ / ("many/" + std::to_string(100 + i) + ".pgm"), slope(7, 5));
  put(folder_ / "many/120.pgm", "");
  put(folder_ / "many/110.pgm", "P5 7 5 255\n");
  put(folder_ / "many/149.pgm", "GIF89a");
  for (int i = 0; i < 20; ++i) {
    expect_error(images_refused("tiles", params({{"path", folder_ / "many"}})), ErrorCode::kData, "",
                 {(folder_ / "many/110.pgm").string() + ": ", "cut off"});
  }
}

TEST_F(Tiles, TellAnImageThatChangedItsSize) {
  const auto dataset = images_opened("tiles", params());
  put(folder_ / "large.pgm", slope(9, 9));
  expect_error(unreadable(*dataset, 0), ErrorCode::kData, "", {"large.pgm", "another size than when it was opened"});
}

/// Bytes that this process has read from files; nothing where the system does not tell.
std::optional<int64_t> bytes_read_by_process() {
  std::ifstream io("/proc/self/io");
  std::string word;
  int64_t bytes = 0;
  if (io >> word >> bytes && word == "rchar:") return bytes;
  return std::nullopt;
}

/// Images of which every pixel follows from its place, in digits or as bytes, cut into 64 tiles each. One that is read is
/// decoded: both happen as often, and how often the system tells.
class TilesOfLargeImages : public testing::Test {
 protected:
  static constexpr std::size_t kSide = 256;
  static constexpr std::size_t kTile = 32;
  static constexpr int64_t kTiles = 64;  // of an image

  static uint8_t value(std::size_t seed, std::size_t row, std::size_t column) {
    return static_cast<uint8_t>((seed * 41 + row * 7 + column * 3) % 251);
  }

  static std::string image(std::size_t seed, bool digits = true) {
    const std::string side = std::to_string(kSide);
    std::string text = (digits ? "P2 " : "P5 ") + side + " " + side + " 255\n";
    for (std::size_t i = 0; i < kSide * kSide; ++i) {
      const uint8_t each = value(seed, i / kSide, i % kSide);
      text += digits ? std::to_string(each) + " " : std::string(1, static_cast<char>(each));
    }
    return text;
  }

  [[nodiscard]] Made<Dataset> tiles(const std::string& path, const Json& more = Json::object()) const {
    Json params{{"path", folder_ / path}, {"height", kTile}, {"width", kTile}, {"color", "grey"}};
    params.update(more);
    return images_opened("tiles", params);
  }

  /// EXPECT that a tile holds what lies at its place of the image of that seed.
  static void expect_tile(const Dataset& dataset, int64_t index, std::size_t seed, const std::string& field = "image") {
    MemorySample sample(dataset.spec());
    dataset.read(index, sample);
    const std::vector<int64_t> origin = sample.written<int64_t>("origin");
    std::vector<uint8_t> wanted;
    for (std::size_t i = 0; i < kTile * kTile; ++i) {
      wanted.push_back(value(seed, static_cast<std::size_t>(origin[0]) + i / kTile,
                             static_cast<std::size_t>(origin[1]) + i % kTile));
    }
    ASSERT_EQ(sample.written<uint8_t>(field), wanted) << "tile " << index;
  }

  TemporaryFolder folder_;
};

TEST_F(TilesOfLargeImages, OneAfterAnotherDecodeTheirImageOnce) {
  if (!bytes_read_by_process()) GTEST_SKIP() << "the system does not tell what is read";
  for (const bool digits : {true, false}) {
    for (const std::size_t seed : {1U, 2U})
      put(folder_ / ("many/" + std::to_string(seed) + ".pgm"), image(seed, digits));
    put(folder_ / "masks/1.pgm", image(3, digits));
    put(folder_ / "masks/2.pgm", image(4, digits));
    const auto size = static_cast<int64_t>(image(1, digits).size());
    const auto reads = [&](const Dataset& dataset, const std::vector<int64_t>& items, bool masks) {
      const int64_t before = *bytes_read_by_process();
      for (const int64_t item : items) {
        const std::size_t seed = item < kTiles ? 1 : 2;
        expect_tile(dataset, item, seed);
        if (masks) expect_tile(dataset, item, seed + 2, "mask");  // this reads the image once more
      }
      return static_cast<double>(*bytes_read_by_process() - before) / static_cast<double>(size);
    };
    std::vector<int64_t> all(2 * kTiles);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_NEAR(reads(*tiles("many"), all, false), 2, 0.5) << "two images";
    EXPECT_NEAR(reads(*tiles("many", {{"masks", folder_ / "masks"}, {"classes", 255}}), all, true), 4, 0.5)
        << "two images and their masks";
    const auto dataset = tiles("many");
    EXPECT_NEAR(reads(*dataset, {0, kTiles, 1, kTiles + 1, 2}, false), 5, 0.5) << "one thread has one image kept";
    EXPECT_NEAR(reads(*dataset, {3, 4, 5}, false), 0, 0.5);
  }
}

TEST_F(TilesOfLargeImages, AreThoseOfManyThreadsAndSeveralDatasetsToTheByte) {
  constexpr std::size_t kImages = 3;
  for (std::size_t seed = 0; seed < kImages; ++seed) {
    put(folder_ / ("many/" + std::to_string(seed) + ".pgm"), image(seed, seed != 1));
    put(folder_ / ("more/" + std::to_string(seed) + ".pgm"), image(seed + 10));
  }
  const auto many = tiles("many");
  const auto more = tiles("more");
  std::vector<std::jthread> threads;
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      std::vector<int64_t> order(kImages * kTiles);
      std::iota(order.begin(), order.end(), 0);
      if (thread > 1) std::shuffle(order.begin(), order.end(), std::mt19937(thread));
      for (const int64_t item : order) {
        const auto seed = static_cast<std::size_t>(item / kTiles);
        expect_tile(*many, item, seed);
        expect_tile(*more, item, seed + 10);
      }
    });
  }
}

TEST_F(TilesOfLargeImages, ThreadsThatWantOneImageHaveItDecodedOnce) {
  if (!bytes_read_by_process()) GTEST_SKIP() << "the system does not tell what is read";
  put(folder_ / "a.pgm", image(1));
  const auto dataset = tiles("a.pgm");
  const auto all_at_once = [&] {
    const int64_t before = *bytes_read_by_process();
    {
      std::vector<std::jthread> threads;
      for (int64_t thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
          for (int64_t item = thread; item < kTiles; item += 4) expect_tile(*dataset, item, 1);
        });
      }
    }
    return static_cast<double>(*bytes_read_by_process() - before) / static_cast<double>(image(1).size());
  };
  EXPECT_LT(all_at_once(), 4.5) << "each may have read the file before the first had decoded it";
  EXPECT_LT(all_at_once(), 0.5) << "whichever thread decoded it";
}

TEST_F(TilesOfLargeImages, FollowAFileThatIsWrittenAnew) {
  put(folder_ / "a.pgm", image(1));
  const auto dataset = tiles("a.pgm");
  for (const std::size_t seed : {1U, 2U, 3U}) {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // times of files have a grain
    put(folder_ / "a.pgm", image(seed, false));
    expect_tile(*dataset, 9, seed);
    expect_tile(*dataset, 10, seed);
  }
  std::filesystem::remove(folder_ / "a.pgm");
  expect_error(unreadable(*dataset, 10), ErrorCode::kData, "", {"a.pgm: cannot be read: No such file"});
}

}  // namespace
}  // namespace tenon::test
