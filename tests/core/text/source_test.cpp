// Lines, columns and code points.
#include <core/text/source.hpp>

#include <string>

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

TEST(Source, CountsLinesAndColumnsFromOne) {
  const Source source("a.json", "ab\ncd\n");
  EXPECT_EQ(source.position(0), (Position{1, 1}));
  EXPECT_EQ(source.position(1), (Position{1, 2}));
  EXPECT_EQ(source.position(3), (Position{2, 1}));
  EXPECT_EQ(source.position(6), (Position{3, 1}));
  EXPECT_EQ(source.line_count(), 3U);
}

TEST(Source, EveryKindOfLineEndEndsALineOnce) {
  const Source source("a.json", "a\r\nb\rc\nd");
  EXPECT_EQ(source.line_count(), 4U);
  EXPECT_EQ(source.line(1), "a");
  EXPECT_EQ(source.line(2), "b");
  EXPECT_EQ(source.line(3), "c");
  EXPECT_EQ(source.line(4), "d");
  EXPECT_EQ(source.position(3), (Position{2, 1}));
}

TEST(Source, ColumnsCountCodePoints) {
  const Source source("a.json", "\"é€😀\" x");
  EXPECT_EQ(source.position(source.text().find('x')), (Position{1, 7}));
}

TEST(Source, AnOffsetInsideACodePointIsItsStart) {
  const Source source("a.json", "a€b");
  EXPECT_EQ(source.position(2), (Position{1, 2}));
  EXPECT_EQ(source.position(3), (Position{1, 2}));
}

TEST(Source, AByteOrderMarkTakesNoColumn) {
  const Source source("a.json", "\xEF\xBB\xBF{}");
  EXPECT_EQ(source.position(3), (Position{1, 1}));
  EXPECT_EQ(source.position(4), (Position{1, 2}));
  EXPECT_EQ(source.line(1), "{}");
}

TEST(Source, OffsetsAndLinesPastTheEndAreTheEnd) {
  const Source source("a.json", "ab");
  EXPECT_EQ(source.position(99), (Position{1, 3}));
  EXPECT_EQ(source.line(2), "");
  EXPECT_EQ(source.line(0), "");
}

TEST(Source, ATabTakesOneColumn) {
  const Source source("a.json", "\t\tx");
  EXPECT_EQ(source.position(2), (Position{1, 3}));
}

TEST(Span, DescribesFilesByPlaceAndArgumentsByPath) {
  const auto file = std::make_shared<const Source>("pipe.json", "{\n  1 }");
  EXPECT_EQ((Span{file, 4, 5}.describe()), "pipe.json:2:3");
  const auto set = std::make_shared<const Source>("--set", "fit.epochs=3", Source::Kind::kArgument);
  EXPECT_EQ((Span{set, 11, 12}.describe()), "--set fit.epochs=…");
  EXPECT_EQ(Span{}.describe(), "");
}

TEST(Span, TextIsClampedToTheSource) {
  const auto file = std::make_shared<const Source>("pipe.json", "abc");
  EXPECT_EQ((Span{file, 1, 99}.text()), "bc");
  EXPECT_EQ((Span{file, 50, 99}.text()), "");
}

struct Utf8Case {
  std::string bytes;
  std::size_t length;
};

class Utf8 : public testing::TestWithParam<Utf8Case> {};

TEST_P(Utf8, KnowsValidCodePoints) { EXPECT_EQ(code_point_length(GetParam().bytes), GetParam().length); }

INSTANTIATE_TEST_SUITE_P(Bounds, Utf8,
                         testing::Values(Utf8Case{"", 0}, Utf8Case{"a", 1}, Utf8Case{"\xC3\xA9", 2},
                                         Utf8Case{"\xE2\x82\xAC", 3}, Utf8Case{"\xF0\x9F\x98\x80", 4},
                                         Utf8Case{"\x80", 0}, Utf8Case{"\xC3", 0}, Utf8Case{"\xC0\x80", 0},
                                         Utf8Case{"\xE0\x80\x80", 0}, Utf8Case{"\xED\xA0\x80", 0},
                                         Utf8Case{"\xF4\x90\x80\x80", 0}, Utf8Case{"\xF4\x8F\xBF\xBF", 4},
                                         Utf8Case{"\xFF", 0}, Utf8Case{"\xE2\x82", 0}));

}  // namespace
}  // namespace tenon::core
