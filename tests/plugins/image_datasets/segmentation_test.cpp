// dataset:segmentation: pairs by name, values to classes, and what is told of pairs that do not fit.
#include <plugins/image_datasets/images.hpp>

namespace tenon::test {
namespace {

class Segmentation : public testing::Test {
 protected:
  Segmentation() {
    put(folder_ / "images/a.pgm", slope(2, 2, 1));
    put(folder_ / "images/below/b.pgm", slope(3, 1, 9));
    put(folder_ / "masks/a.pgm", pgm(2, 2, std::string("\0\1\2\xFF", 4)));
    put(folder_ / "masks/below/b.ppm", std::string("P6 3 1 255\n\1\1\1\2\2\2\0\0\0", 20));
  }

  [[nodiscard]] Json params(const Json& more = Json::object()) const {
    Json json{{"images", folder_ / "images"}, {"masks", folder_ / "masks"}, {"classes", 3}, {"color", "grey"}};
    json.update(more);
    return json;
  }

  [[nodiscard]] std::vector<uint8_t> mask(const Json& more, int64_t index = 0) const {
    return field_of<uint8_t>(*images_opened("segmentation", params(more)), index, "mask");
  }

  TemporaryFolder folder_;
};

TEST_F(Segmentation, PairsImagesAndMasksByTheirNames) {
  const auto dataset = images_opened("segmentation", params());
  EXPECT_EQ(text_of(dataset->spec()), "image uint8[H, W, 1], mask uint8[H, W]");
  ASSERT_EQ(dataset->size(), 2);
  EXPECT_EQ(field_of<uint8_t>(*dataset, 0, "image"), (std::vector<uint8_t>{1, 2, 3, 4}));
  EXPECT_EQ(field_of<uint8_t>(*dataset, 0, "mask"), (std::vector<uint8_t>{0, 1, 2, 255}));
  EXPECT_EQ(field_of<uint8_t>(*dataset, 1, "mask"), (std::vector<uint8_t>{1, 2, 0}));
  EXPECT_EQ(shape_of(*dataset, 1, "mask"), (Shape{1, 3}));
  EXPECT_EQ(item_name(*dataset, 1), (folder_ / "images/below/b.pgm").string());
}

TEST_F(Segmentation, RenamesAndIgnoresValues) {
  EXPECT_EQ(mask({{"ignore", {1}}}), (std::vector<uint8_t>{0, 255, 2, 255}));
  EXPECT_EQ(mask({{"values", {{"0", 2}, {"1", 0}, {"2", 1}}}}), (std::vector<uint8_t>{2, 0, 1, 255}));
  EXPECT_EQ(mask({{"values", {{"0", 0}, {"255", 1}}}, {"ignore_others", true}}),
            (std::vector<uint8_t>{0, 255, 255, 1}));
}

TEST_F(Segmentation, NamesAValueThatIsNoClassWithItsPlace) {
  const auto dataset = images_opened("segmentation", params({{"classes", 2}}));
  expect_error(unreadable(*dataset, 0), ErrorCode::kData, "",
               {(folder_ / "masks/a.pgm").string(), "holds 2 at column 0, row 1", "0 to 1", "ignore"});
  // The value 0 is no class here, though 0 is a class.
  const auto renamed = images_opened("segmentation", params({{"values", {{"1", 0}}}}));
  expect_error(unreadable(*renamed, 1), ErrorCode::kData, "", {"holds 2 at column 1, row 0"});
  expect_error(unreadable(*renamed, 0), ErrorCode::kData, "", {"holds 0 at column 0, row 0"});
}

TEST_F(Segmentation, RefusesRulesThatContradictThemselves) {
  expect_error(images_refused("segmentation", params({{"values", {{"1", 3}}}})), ErrorCode::kConfig, "/values/1",
               {"3 is no class", "end at 2"});
  expect_error(images_refused("segmentation", params({{"values", {{"one", 1}}}})), ErrorCode::kConfig, "/values",
               {"\"one\" is no value"});
  expect_error(images_refused("segmentation", params({{"values", {{"1", 1}}}, {"ignore", {0, 1}}})), ErrorCode::kConfig,
               "/ignore/1", {"1 is a class"});
}

TEST_F(Segmentation, NamesBothFilesWhereSizesDiffer) {
  put(folder_ / "masks/a.pgm", pgm(1, 2, std::string("\0\1", 2)));
  const auto dataset = images_opened("segmentation", params());
  expect_error(unreadable(*dataset, 0), ErrorCode::kData, "",
               {(folder_ / "masks/a.pgm").string(), (folder_ / "images/a.pgm").string(), "1 x 2", "2 x 2"});
}

TEST_F(Segmentation, ListsImagesWithoutAMaskWhenItIsOpened) {
  put(folder_ / "images/c.pgm", slope(1, 1));
  put(folder_ / "images/d.pgm", slope(1, 1));
  expect_error(images_refused("segmentation", params()), ErrorCode::kData, "/masks",
               {"lacks the masks of 2 of 4 images", (folder_ / "images/c.pgm").string(), "d.pgm"});
}

TEST_F(Segmentation, TellsMasksOfNoImage) {
  put(folder_ / "masks/z.pgm", slope(1, 1));
  const auto dataset = images_opened("segmentation", params());
  EXPECT_NE(joined(remarks_of(*dataset)).find("1 mask belongs to no image"), std::string::npos);
}

TEST_F(Segmentation, RefusesTwoFilesOfOneName) {
  put(folder_ / "masks/a.ppm", "x");
  expect_error(images_refused("segmentation", params()), ErrorCode::kData, "/masks", {"a.pgm", "a.ppm", "one name"});
}

TEST_F(Segmentation, PairsNamesThatDifferByTheirSuffixes) {
  TemporaryFolder both;
  put(both / "a_image.pgm", slope(1, 1, 5));
  put(both / "a_mask.pgm", pgm(1, 1, std::string("\1", 1)));
  const Json json{{"images", both / ""},      {"masks", both / ""},     {"classes", 2},
                  {"image_suffix", "_image"}, {"mask_suffix", "_mask"}, {"color", "grey"}};
  const auto dataset = images_opened("segmentation", json);
  ASSERT_EQ(dataset->size(), 1);
  EXPECT_EQ(field_of<uint8_t>(*dataset, 0, "mask"), (std::vector<uint8_t>{1}));
  EXPECT_NE(joined(remarks_of(*dataset)).find("no \"_image\" before the extension"), std::string::npos);
}

TEST_F(Segmentation, TakesTheNumbersOfEveryKindOfPbmPgmAndPpm) {
  const std::vector<uint8_t> numbers{0, 1, 2, 1};
  const std::vector<std::string> files{"P2 2 2 3\n0 1 2 1",
                                       "P2 2 2 255\n0\n1\n2\n1\n",
                                       "P2 2 2 65535\n0 1 # a comment\n 2 1\n",
                                       "P5 2 2 3\n" + std::string("\0\1\2\1", 4),
                                       "P5 2 2 300\n" + std::string("\0\0\0\1\0\2\0\1", 8),
                                       "P3 2 2 7\n0 0 0 1 1 1 2 2 2 1 1 1",
                                       "P6 2 2 4\n" + std::string("\0\0\0\1\1\1\2\2\2\1\1\1", 12)};
  for (const std::string& file : files) {
    put(folder_ / "masks/a.pgm", file);
    EXPECT_EQ(mask(Json::object()), numbers) << file;
  }
  // A bit of 1 is black, and black is 0 in all formats.
  for (const std::string& file : {std::string("P1 2 2\n1 0\n01"), std::string("P4 2 2\n\x80\x40")}) {
    put(folder_ / "masks/a.pgm", file);
    EXPECT_EQ(mask(Json::object()), (std::vector<uint8_t>{0, 1, 1, 0})) << file;
  }
  put(folder_ / "masks/a.pgm", "P2 2 2 300\n0 1 2 256");
  expect_error(unreadable(*images_opened("segmentation", params()), 0), ErrorCode::kData, "",
               {"holds 256 at column 1, row 1", "end at 255"});
}

TEST_F(Segmentation, FingerprintIsThatOfImagesAndMasks) {
  std::string last = images_opened("segmentation", params())->fingerprint();
  const auto changes = [&] {
    return std::exchange(last, images_opened("segmentation", params())->fingerprint()) != last;
  };
  put(folder_ / "masks/a.pgm", pgm(2, 2, std::string("\0\1\2\1", 4)));
  EXPECT_TRUE(changes()) << "another mask of the same size";
  put(folder_ / "images/below/b.pgm", slope(3, 1, 8));
  EXPECT_TRUE(changes()) << "another image of the same size";
  put(folder_ / "images/below/b.pgm", slope(3, 2, 8));
  EXPECT_TRUE(changes());
  EXPECT_FALSE(changes());
}

TEST_F(Segmentation, RefusesMasksInColoursAndJpeg) {
  put(folder_ / "masks/a.pgm", std::string("P6 2 2 255\n\1\1\1\1\2\1\0\0\0\0\0\0", 23));
  const auto dataset = images_opened("segmentation", params());
  expect_error(unreadable(*dataset, 0), ErrorCode::kData, "", {"in colours, such as at column 1, row 0"});
  put(folder_ / "masks/a.pgm", "\xFF\xD8\xFF\xE0");
  expect_error(unreadable(*dataset, 0), ErrorCode::kData, "", {"is JPEG, which keeps no exact class numbers"});
}

}  // namespace
}  // namespace tenon::test
