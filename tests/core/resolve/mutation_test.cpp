// Pipelines with faults put in by chance: nothing crashes, every finding lies in its text, and it is rendered.
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <core/json/json.hpp>
#include <core/json/reader.hpp>
#include <core/resolve/resolve.hpp>
#include <core/resolve/scratch.hpp>
#include <core/text/render.hpp>
#include <rounds.hpp>

namespace tenon::core {
namespace {

/// A few edits: bytes taken out, put in, doubled, swapped; ends cut off.
std::string mutate(std::string text, std::mt19937& random) {
  const auto pick = [&](std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random); };
  const std::string pieces = "{}[]\",:'\\/0123456789.eE+-tfn \n\t\x01\x80\xC3\xFF$";
  for (std::size_t edits = 1 + pick(4); edits > 0 && !text.empty(); --edits) {
    const std::size_t at = pick(text.size());
    switch (pick(7)) {
      case 0: text.erase(at, 1); break;
      case 1: text.insert(at, 1, pieces[pick(pieces.size())]); break;
      case 2: text[at] = pieces[pick(pieces.size())]; break;
      case 3: text.insert(at, text.substr(at, pick(40))); break;
      case 4: std::swap(text[at], text[pick(text.size())]); break;
      case 5: text.erase(at, pick(30)); break;
      default:
        if (pick(10) == 0) text.resize(at);
    }
  }
  return text;
}

TEST(Mutations, NeverCrashAndAlwaysPointIntoTheText) {
  std::mt19937 random(20'000);
  int refused = 0;
  for (int i = 0; i < test::rounds(20'000); ++i) {
    const std::string text = mutate(kSmall, random);
    const Outcome outcome = resolve_text(text);
    refused += outcome.diagnostics.has_errors() ? 1 : 0;
    for (const Diagnostic& each : outcome.diagnostics.all()) {
      ASSERT_FALSE(each.code.empty()) << text;
      ASSERT_FALSE(each.message.empty()) << text;
      ASSERT_LE(each.span.begin, each.span.end) << text;
      ASSERT_TRUE(!each.span || each.span.end <= text.size()) << text;
    }
    if (i % 20 == 0) {
      static_cast<void>(render_text(outcome.diagnostics));
      for (const Diagnostic& each : outcome.diagnostics.all()) ASSERT_TRUE(Json::accept(render_json(each))) << text;
    }
    // A text without errors is JSON, apart from a value that its place does not restrict.
    if (!outcome.diagnostics.has_errors()) {
      ASSERT_TRUE(Json::accept(text)) << text;
    }
  }
  EXPECT_GT(refused, test::rounds(15'000));
}

TEST(Mutations, WhatIsNoJsonIsAlwaysAnError) {
  std::mt19937 random(7);
  for (int i = 0; i < test::rounds(20'000); ++i) {
    const std::string text = mutate(kSmall, random);
    if (Json::accept(text)) continue;
    Diagnostics diagnostics;
    static_cast<void>(read_json(std::make_shared<const Source>("pipe.json", text), diagnostics));
    ASSERT_TRUE(diagnostics.has_errors()) << text;
  }
}

TEST(Mutations, OfSetNeverCrash) {
  std::mt19937 random(9);
  for (int i = 0; i < test::rounds(5'000); ++i) {
    const std::string argument = mutate("+nodes.opt.groups.0.with={\"lr\": [1, \"${vars.lr}\"]}", random);
    const Outcome outcome = resolve_text(kSmall, {argument});
    static_cast<void>(render_text(outcome.diagnostics));
  }
}

}  // namespace
}  // namespace tenon::core
