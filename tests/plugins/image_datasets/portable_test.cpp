// PBM, PGM and PPM of every kind as images, and files that are none.
#include <plugins/image_datasets/images.hpp>

namespace tenon::test {
namespace {

class Portable : public testing::Test {
 protected:
  [[nodiscard]] Made<Dataset> over(const std::string& file, const Json& more = Json::object()) const {
    put(folder_ / "a.pgm", file);
    Json params{{"path", folder_ / ""}, {"labels", false}, {"color", "grey"}};
    params.update(more);
    return images_opened("image_folder", params);
  }

  [[nodiscard]] std::vector<uint8_t> grey(const std::string& file) const {
    return field_of<uint8_t>(*over(file), 0, "image");
  }

  [[nodiscard]] std::vector<int32_t> wide(const std::string& file, const std::string& color = "grey") const {
    return field_of<int32_t>(*over(file, {{"bits", 16}, {"color", color}}), 0, "image");
  }

  TemporaryFolder folder_;
};

TEST_F(Portable, NumbersAreScaledFromTheLargestOneToWhite) {
  for (const std::string& file : {std::string("P2 4 1 3\n0 1 2 3"), std::string("P5 4 1 3\n\0\1\2\3", 13)}) {
    EXPECT_EQ(grey(file), (std::vector<uint8_t>{0, 85, 170, 255})) << file;
    EXPECT_EQ(wide(file), (std::vector<int32_t>{0, 85 * 257, 170 * 257, 65535})) << file;
  }
  EXPECT_EQ(grey("P2 3 1 10\n1 3 5\n"), (std::vector<uint8_t>{26, 76, 128})) << "halves go to the even number";
  EXPECT_EQ(grey("P5 2 1 10\n\x0A\xFF"), (std::vector<uint8_t>{255, 255})) << "what is above is white";
  EXPECT_EQ(wide("P2 3 1 300\n0 150 300"), (std::vector<int32_t>{0, 32768, 65535}));
  EXPECT_EQ(grey("P2 3 1 300\n0 150 300"), (std::vector<uint8_t>{0, 128, 255}));
}

TEST_F(Portable, SixteenBitsAreKeptOrTheUpperEightTaken) {
  const std::string values("\x01\x02\xFF\xFE\x80\x00", 6);
  EXPECT_EQ(wide("P5 3 1 65535\n" + values), (std::vector<int32_t>{0x0102, 0xFFFE, 0x8000}));
  EXPECT_EQ(grey("P5 3 1 65535\n" + values), (std::vector<uint8_t>{0x01, 0xFF, 0x80}));
  EXPECT_EQ(wide("P6 1 1 65535\n" + values, "rgb"), (std::vector<int32_t>{0x0102, 0xFFFE, 0x8000}));
  EXPECT_EQ(wide("P3 1 1 65535\n258 65534 32768", "rgba"), (std::vector<int32_t>{0x0102, 0xFFFE, 0x8000, 65535}));
}

TEST_F(Portable, BitsOfOneAreBlackAndRowsEndWithTheirByte) {
  const std::vector<uint8_t> pixels{255, 0, 255, 255, 255, 255, 255, 255, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255};
  EXPECT_EQ(grey(std::string("P4 9 2\n\x40\x80\x80\x00", 11)), pixels);
  EXPECT_EQ(grey("P1 9 2\n010000001 1 0 0 0 0 # a comment\n0 0\n0 0"), pixels);
}

TEST_F(Portable, CommentsStandWhereBlanksMay) {
  EXPECT_EQ(grey("P5#one\n# two\n2 # three\n1\n255\n\7\x08"), (std::vector<uint8_t>{7, 8}));
  for (const char blank : {' ', '\t', '\r', '\n', '\v', '\f'}) {
    EXPECT_EQ(grey(std::string("P5") + blank + "2" + blank + "1 255\n\7\x08"), (std::vector<uint8_t>{7, 8}));
  }
}

TEST_F(Portable, FilesThatAreCutOffAreRefusedBeforeTheirMemoryIsTaken) {
  const auto says = [&](const std::string& file, const std::string& part) {
    expect_error(unreadable(*over(file), 0), ErrorCode::kData, "", {(folder_ / "a.pgm").string() + ": ", part});
  };
  says("P3 30000 30000 255\n", "take 5400000018 bytes with the header at least, and it has 19");
  says("P2 1000000 1000000 255\n1 2 3", "is cut off");
  says("P1 1000000 1000000\n", "is cut off");
  says("P4 9 2\n\1\2\3", "pixels take 11 bytes with the header, and it has 10");
  says("P2 3 1 255\n 1   2   ", "no number from 0 to 255 at byte");
  says("P2 3 1 255\n 1 x 2   ", "no number from 0 to 255 at byte 14");
  says("P2 3 1 255\n 1 256 2", "no number from 0 to 255");
  says("P1 3 1\n0 1 2", "no number from 0 to 1");
  for (const char* const head : {"P5", "P5 ", "P5 3", "P5 0 3 255\n", "P5 3 3 0\n", "P5 3 3 65536\n", "P5 3 3 #",
                                 "P5 99999999999 1 255\n", "P5 -3 3 255\n"}) {
    EXPECT_EQ(unreadable(*over(head), 0).code(), ErrorCode::kData) << head;
  }
}

}  // namespace
}  // namespace tenon::test
