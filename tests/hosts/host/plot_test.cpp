// Curves drawn with characters.
#include <host/plot.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <core/text/source.hpp>

namespace tenon::host {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<PlotPoint> ramp(int64_t steps) {
  std::vector<PlotPoint> points;
  for (int64_t step = 0; step <= steps; ++step) points.push_back({step, static_cast<double>(step)});
  return points;
}

/// Warm-up over 50 steps to 0.002, then half a cosine.
std::vector<PlotPoint> cosine() {
  std::vector<PlotPoint> points;
  for (int64_t step = 1; step <= 425; ++step) {
    const double part = static_cast<double>(step - 50) / 375;
    points.push_back({step, step <= 50 ? 4e-5 * static_cast<double>(step) : 1e-3 * (1 + std::cos(M_PI * part))});
  }
  return points;
}

TEST(Plot, RampIsADiagonalInAscii) {
  const std::vector<std::string> lines = lines_of(plot(ramp(22), {}, {.width = 30, .height = 5, .unicode = false}));
  ASSERT_EQ(lines.size(), 7);
  EXPECT_EQ(lines[0], "22 +                       ***");
  EXPECT_EQ(lines[2], "11 +          ******");
  EXPECT_EQ(lines[4], " 0 +***");
  EXPECT_EQ(lines[5].substr(0, 5), "   ++");
  EXPECT_EQ(lines[6].substr(0, 5), "    0");
  EXPECT_EQ(lines[6].substr(lines[6].size() - 2), "22");
}

TEST(Plot, CurveIsWithoutGapsInBraille) {
  const std::string drawn = plot(ramp(400), {}, {.width = 60, .height = 10, .unicode = true});
  for (const std::string& line : lines_of(drawn)) {
    // Every line of the curve has at least one dot: U+2800 to U+28FF begin with E2 A0 to E2 A3.
    if (line.find("\xe2\x94\xa4") == std::string::npos && line.find("\xe2\x94\x82") == std::string::npos) continue;
    EXPECT_NE(line.find_first_of("\xa0\xa1\xa2\xa3"), std::string::npos) << line;
  }
}

TEST(Plot, NoLineIsWiderThanAskedFor) {
  for (const bool unicode : {false, true}) {
    for (const std::size_t width : {47, 80, 140}) {
      const std::string drawn =
          plot(cosine(), {{50, "end of warm-up"}}, {.width = width, .height = 9, .unicode = unicode});
      for (const std::string& line : lines_of(drawn)) {
        EXPECT_LE(core::count_code_points(line), width) << line;
        EXPECT_FALSE(line.ends_with(' ')) << line;
        const auto plain = [](char c) { return c >= ' ' && c <= '~'; };
        EXPECT_TRUE(unicode || std::all_of(line.begin(), line.end(), plain)) << line;
      }
    }
  }
}

TEST(Plot, ValuesAreLabelledFromZeroToTheLargest) {
  const std::vector<std::string> lines = lines_of(plot(cosine(), {}, {.width = 60, .height = 9, .unicode = false}));
  EXPECT_EQ(lines[0].substr(0, 6), "0.002 ");
  EXPECT_EQ(lines[4].substr(0, 6), "0.001 ");
  EXPECT_EQ(lines[8].substr(0, 6), "    0 ");
}

TEST(Plot, APeakOfOneStepIsNotLost) {
  std::vector<PlotPoint> points;
  for (int64_t step = 0; step < 100'000; ++step) points.push_back({step, step == 54'321 ? 1.0 : 0.0});
  const std::vector<std::string> lines = lines_of(plot(points, {}, {.width = 40, .height = 6, .unicode = false}));
  EXPECT_EQ(std::count(lines[0].begin(), lines[0].end(), '*'), 1);
}

TEST(Plot, AMarkStandsUnderItsStep) {
  const auto mark_at = [](int64_t step) {
    return lines_of(plot(ramp(100), {{step, "end of warm-up"}}, {.width = 60, .height = 4, .unicode = false})).back();
  };
  EXPECT_EQ(mark_at(0), "       ^ end of warm-up (step 0)");
  // Where the text would leave the drawing it stands before its mark.
  EXPECT_EQ(mark_at(100).size(), 60);
  EXPECT_TRUE(mark_at(100).ends_with("end of warm-up (step 100) ^"));
}

TEST(Plot, StepsAreLabelledWithoutTouching) {
  for (const int64_t steps : {1, 2, 7, 425, 1'000'000}) {
    const std::vector<PlotPoint> points{{0, 1.0}, {steps, 2.0}};
    const std::string labels = lines_of(plot(points, {}, {.width = 72, .height = 4, .unicode = false})).back();
    std::istringstream in(labels);
    std::vector<int64_t> found;
    for (int64_t label = 0; in >> label;) found.push_back(label);
    EXPECT_TRUE(in.eof()) << labels;
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end())) << labels;
    EXPECT_EQ(found.front(), 0);
    EXPECT_EQ(found.back(), steps);
  }
}

TEST(Plot, OneValueAndEqualValuesAreDrawn) {
  EXPECT_NE(plot({{3, 0.5}}, {}, {.unicode = false}).find('*'), std::string::npos);
  EXPECT_NE(plot({{0, 0.0}, {9, 0.0}}, {}, {.unicode = false}).find("0 +****"), std::string::npos);
  EXPECT_NE(plot({{0, -2.0}, {9, -2.0}}, {}, {.unicode = false}).find("-2 +****"), std::string::npos);
}

TEST(Plot, ValuesThatAreNotFiniteAreToldAndLeftOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string drawn = plot({{0, 1.0}, {1, nan}, {2, 2.0}}, {}, {.unicode = false});
  EXPECT_TRUE(drawn.ends_with("not finite and left out: 1 of 3 values\n")) << drawn;
  EXPECT_EQ(plot({{0, nan}}, {}, {}), "not finite and left out: 1 of 1 values\n");
  EXPECT_EQ(plot({}, {}, {}), "there is nothing to draw\n");
}

TEST(EndOfWarmup, IsTheTopOfAFirstRise) {
  EXPECT_EQ(end_of_warmup(cosine()), 50);
  EXPECT_EQ(end_of_warmup({{0, 0.0}, {1, 1.0}, {2, 1.0}}), 1);
  EXPECT_EQ(end_of_warmup({{0, 3.0}, {1, 2.0}, {2, 4.0}}), -1);  // begins by falling
  EXPECT_EQ(end_of_warmup(ramp(9)), -1);                         // only rises
  EXPECT_EQ(end_of_warmup({}), -1);
}

TEST(Locale, TheFirstVariableThatIsSetDecides) {
  const auto with = [](const char* all, const char* ctype, const char* lang) {
    setenv("LC_ALL", all, 1);
    setenv("LC_CTYPE", ctype, 1);
    setenv("LANG", lang, 1);
    return locale_is_utf8();
  };
  EXPECT_TRUE(with("C.UTF-8", "C", "C"));
  EXPECT_FALSE(with("C", "C.UTF-8", "C.UTF-8"));
  EXPECT_TRUE(with("", "de_DE.utf8", "C"));
  EXPECT_TRUE(with("", "", "en_US.UTF-8"));
  EXPECT_FALSE(with("", "", ""));
}

}  // namespace
}  // namespace tenon::host
