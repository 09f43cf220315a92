// The collection of findings.
#include <core/text/diagnostic.hpp>

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

Diagnostic make(std::string code, const SourcePtr& source, std::size_t begin, Severity severity = Severity::kError) {
  Diagnostic diagnostic;
  diagnostic.severity = severity;
  diagnostic.code = std::move(code);
  diagnostic.span = {source, begin, begin + 1};
  return diagnostic;
}

std::string codes(const Diagnostics& diagnostics) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics.all()) out += diagnostic.code + " ";
  return out;
}

TEST(Diagnostics, SortByPlaceKeepsTheOrderOfSourcesAndPutsThoseWithoutAPlaceFirst) {
  const auto one = std::make_shared<const Source>("z.json", "abcdef");
  const auto two = std::make_shared<const Source>("a.json", "abcdef");
  Diagnostics diagnostics;
  diagnostics.add(make("z5", one, 5));
  diagnostics.add(make("a1", two, 1));
  diagnostics.add(make("z2", one, 2));
  diagnostics.add(make("none", nullptr, 0));
  diagnostics.add(make("z5b", one, 5));
  diagnostics.sort();
  EXPECT_EQ(codes(diagnostics), "none z2 z5 z5b a1 ");
}

TEST(Diagnostics, SortDropsRepetitionsAndCountsAgain) {
  const auto source = std::make_shared<const Source>("a.json", "abc");
  Diagnostics diagnostics;
  diagnostics.add(make("x", source, 1));
  diagnostics.add(make("y", source, 1, Severity::kWarning));
  diagnostics.add(make("x", source, 1));
  diagnostics.sort();
  EXPECT_EQ(codes(diagnostics), "x y ");
  EXPECT_EQ(diagnostics.errors(), 1U);
  EXPECT_EQ(diagnostics.warnings(), 1U);
}

TEST(Diagnostics, ExitCodeIsThatOfTheFirstError) {
  Diagnostics diagnostics;
  EXPECT_EQ(diagnostics.exit_code(), 0);
  diagnostics.add(make("warned", nullptr, 0, Severity::kWarning));
  EXPECT_EQ(diagnostics.exit_code(), 0);
  Diagnostic plugin = make("plugin", nullptr, 0);
  plugin.error_code = ErrorCode::kPlugin;
  diagnostics.add(plugin);
  diagnostics.add(make("config", nullptr, 0));
  EXPECT_EQ(diagnostics.exit_code(), 3);
}

TEST(Diagnostics, ErrorsAreFoundBelowAPointerButNotBesideIt) {
  Diagnostics diagnostics;
  Diagnostic error = make("x", nullptr, 0);
  error.pointer = "/nodes/opt/with/lr";
  diagnostics.add(error);
  error.severity = Severity::kWarning;
  error.pointer = "/fit/epochs";
  diagnostics.add(error);
  EXPECT_TRUE(diagnostics.has_error_under("/nodes/opt"));
  EXPECT_TRUE(diagnostics.has_error_under(""));
  EXPECT_TRUE(diagnostics.has_error_under("/nodes/opt/with/lr"));
  EXPECT_FALSE(diagnostics.has_error_under("/nodes/op"));
  EXPECT_FALSE(diagnostics.has_error_under("/fit"));
}

TEST(Diagnostics, AppendAddsBehindAndCounts) {
  Diagnostics one;
  one.add(make("a", nullptr, 0));
  Diagnostics two;
  two.add(make("b", nullptr, 0, Severity::kWarning));
  one.append(two);
  EXPECT_EQ(codes(one), "a b ");
  EXPECT_EQ(one.errors(), 1U);
  EXPECT_EQ(one.warnings(), 1U);
}

}  // namespace
}  // namespace tenon::core
