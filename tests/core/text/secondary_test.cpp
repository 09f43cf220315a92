// Errors that involve two places: both are shown, wherever they lie.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <core/text/render.hpp>

namespace tenon::core {
namespace {

SourcePtr source(const std::string& text, const std::string& path = "a.json") {
  return std::make_shared<const Source>(path, text);
}

Diagnostic with_places(const Span& first, const Span& second) {
  Diagnostic diagnostic;
  diagnostic.code = "fault";
  diagnostic.message = "is wrong";
  diagnostic.span = first;
  diagnostic.label = "here";
  diagnostic.secondary = {{second, "there"}};
  return diagnostic;
}

TEST(SecondaryPlaces, OnTheSameLineAreMarkedBelowItOnce) {
  const SourcePtr text = source("{\"lr\": 1, \"lr\": 2}");
  EXPECT_EQ(render_text(with_places({text, 10, 14}, {text, 1, 5})),
            "error[fault]: is wrong\n"
            "  --> a.json:1:11\n"
            "1  | {\"lr\": 1, \"lr\": 2}\n"
            "   |           ^^^^ here\n"
            "   |  ---- there\n");
}

TEST(SecondaryPlaces, OnOneOtherLineAreMarkedBelowItTogether) {
  const SourcePtr text = source("{ [\n  1,\n 2");
  Diagnostic diagnostic = with_places({text, 11, 11}, {text, 2, 3});
  diagnostic.secondary.push_back({{text, 0, 1}, "and there"});
  EXPECT_EQ(render_text(diagnostic),
            "error[fault]: is wrong\n"
            "  --> a.json:3:3\n"
            "3  |  2\n"
            "   |   ^ here\n"
            "  ::: a.json:1:3\n"
            "1  | { [\n"
            "   |   - there\n"
            "   | - and there\n");
}

TEST(SecondaryPlaces, InAnotherFileAreShownUnderItsName) {
  EXPECT_EQ(render_text(with_places({source("{\"lr\": 1}"), 1, 5}, {source("\n{\"lr\": 2}", "b.json"), 2, 6})),
            "error[fault]: is wrong\n"
            "  --> a.json:1:2\n"
            "1  | {\"lr\": 1}\n"
            "   |  ^^^^ here\n"
            "  ::: b.json:2:2\n"
            "2  | {\"lr\": 2}\n"
            "   |  ---- there\n");
}

TEST(SecondaryPlaces, FarAwayWidenTheColumnOfLineNumbers) {
  const SourcePtr text = source("a" + std::string(1233, '\n') + "b");
  EXPECT_EQ(render_text(with_places({text, 0, 1}, {text, 1234, 1235})),
            "error[fault]: is wrong\n"
            "  --> a.json:1:1\n"
            "1    | a\n"
            "     | ^ here\n"
            "  ::: a.json:1234:1\n"
            "1234 | b\n"
            "     | - there\n");
}

TEST(SecondaryPlaces, OnALineThatIsCutElsewhereGetAnExcerptOfTheirOwn) {
  const SourcePtr text = source("x" + std::string(500, ' ') + "y");
  const std::string shown = render_text(with_places({text, 501, 502}, {text, 0, 1}));
  EXPECT_NE(shown.find("y\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("  ::: a.json:1:1\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("   | - there\n"), std::string::npos) << shown;
}

TEST(SecondaryPlaces, InOneArgumentAreMarkedBelowItOnce) {
  const auto set = std::make_shared<const Source>("--set", "a={\"b\":1,\"b\":2}", Source::Kind::kArgument);
  EXPECT_EQ(render_text(with_places({set, 9, 12}, {set, 3, 6})),
            "error[fault]: is wrong\n"
            "  --> --set a=…\n"
            "   | --set a={\"b\":1,\"b\":2}\n"
            "   |                ^^^ here\n"
            "   |          --- there\n");
}

}  // namespace
}  // namespace tenon::core
