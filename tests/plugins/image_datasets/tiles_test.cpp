// dataset:tiles: where tiles lie, and that they hold what lies there.
#include <filesystem>
#include <fstream>

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

}  // namespace
}  // namespace tenon::test
