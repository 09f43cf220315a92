// One file: values, places, defaults, and files that cannot be read.
#include <core/resolve/resolve.hpp>

#include <chrono>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <core/resolve/scratch.hpp>
#include <core/text/render.hpp>

namespace tenon::core {
namespace {

TEST(Resolve, ARightPipelineHasNoFindings) {
  const Outcome outcome = resolve_text(kSmall);
  EXPECT_EQ(outcome.found(), Found{});
  ASSERT_TRUE(outcome.resolved.usable());
  EXPECT_EQ(outcome.at("/nodes/opt/with/lr"), Json(0.1));
  EXPECT_EQ(outcome.at("/fit/epochs"), Json(3));
}

TEST(Resolve, KnowsTheOriginOfEveryValue) {
  const Outcome outcome = resolve_text(kSmall);
  const auto origin = [&](const char* pointer) { return outcome.resolved.origin(pointer).describe(); };
  EXPECT_EQ(origin("/name"), "pipe.json:3:11");
  EXPECT_EQ(origin("/nodes/load/with/batch"), "pipe.json:7:73");
  EXPECT_EQ(origin("/nodes/opt/groups/0/match"), "pipe.json:11:38");
  EXPECT_EQ(origin("/nodes/opt/with/lr"), "vars.lr at pipe.json:4:19");
  EXPECT_EQ(origin("/run/seed"), "default of the pipeline format");
  EXPECT_EQ(origin("/nodes/opt/with/unknown"), "pipe.json:10:62");
}

TEST(Resolve, LocatesWhatIsWrittenAndTheNearestAncestorOfWhatIsNot) {
  const Outcome outcome = resolve_text(kSmall);
  const Located batch = outcome.resolved.locate("/nodes/load/with/batch");
  EXPECT_TRUE(batch.exact);
  EXPECT_EQ(batch.key.text(), "\"batch\"");
  EXPECT_EQ(batch.value.text(), "64");
  const Located absent = outcome.resolved.locate("/nodes/net/with/classes");
  EXPECT_FALSE(absent.exact);
  EXPECT_EQ(absent.key.text(), "\"net\"");
  const Located by_default = outcome.resolved.locate("/run/seed");
  EXPECT_FALSE(by_default.exact);
  EXPECT_EQ(by_default.value.position(), (Position{1, 1}));
}

TEST(Resolve, ErrorsPointAtValuesAndKeys) {
  const Outcome outcome = resolve_text(kSmall);
  EXPECT_EQ(outcome.resolved.error_at_value("/fit/loss", "x", "").span.text(), "\"loss\"");
  EXPECT_EQ(outcome.resolved.error_at_value("/fit/loss", "x", "").span.position(), (Position{13, 36}));
  EXPECT_EQ(outcome.resolved.error_at_key("/fit/loss", "x", "").span.position(), (Position{13, 28}));
  EXPECT_EQ(outcome.resolved.error_at_value("/fit/clip", "x", "").span.text(), "\"fit\"");
  EXPECT_EQ(outcome.resolved.error_at_value("/run/seed", "x", "").span.text(), "{");
  const Diagnostic variable = outcome.resolved.error_at_value("/nodes/opt/with/lr", "x", "");
  EXPECT_EQ(variable.span.text(), "\"${vars.lr}\"");
  ASSERT_EQ(variable.secondary.size(), 1U);
  EXPECT_EQ(variable.secondary[0].span.text(), "0.1");
}

TEST(Resolve, TwoPlantedErrorsAreBothReported) {
  std::string text = kSmall;
  text.replace(text.find("\"epochs\": \"$"), 8, "\"epoch\"");
  text.replace(text.find("\"of\""), 4, "\"off\"");
  const Outcome outcome = resolve_text(text);
  EXPECT_EQ(outcome.found(),
            (Found{"unknown-key pipe.json:10:41 /nodes/opt/off", "unknown-key pipe.json:13:44 /fit/epoch"}));
  EXPECT_EQ(outcome.diagnostics.exit_code(), 2);
}

TEST(Resolve, SyntaxAndSchemaErrorsAreReportedTogether) {
  std::string text = kSmall;
  text.replace(text.find("64 }"), 4, "064, }");
  text.replace(text.find("\"fit\""), 5, "\"fti\"");
  EXPECT_EQ(resolve_text(text).found(),
            (Found{"bad-number pipe.json:7:73 /nodes/load/with/batch", "trailing-comma pipe.json:7:76 /nodes/load/with",
                   "unknown-key pipe.json:13:3 /fti"}));
}

TEST(Resolve, NullIsAnErrorAnywhereInTheFile) {
  EXPECT_EQ(resolve_text(
                R"({"format": 1, "name": "x", "nodes": {}, "run": null, "stop": [{"use": "a:b", "with": {"x": [null]}}],
 "fit": {"data": "d", "loss": "l", "epochs": 1, "clip": null}})")
                .found(),
            (Found{"null-value pipe.json:1:48 /run", "null-value pipe.json:1:93 /stop/0/with/x/0",
                   "null-value pipe.json:2:57 /fit/clip"}));
}

TEST(Resolve, APipelineIsAnObject) {
  EXPECT_EQ(resolve_text("[1]").found(), (Found{"wrong-type pipe.json:1:1"}));
  EXPECT_FALSE(resolve_text("[1]").resolved.usable());
}

TEST(Resolve, ATruncatedTextIsNotJudgedFurther) {
  for (std::size_t length = 0; length < kSmall.size() - 2; length += 7) {
    const Outcome outcome = resolve_text(kSmall.substr(0, length));
    ASSERT_FALSE(outcome.diagnostics.empty()) << length;
    EXPECT_EQ(outcome.diagnostics.all().back().code, length == 0 ? "empty-file" : "truncated") << length;
    EXPECT_FALSE(outcome.resolved.usable());
    EXPECT_EQ(outcome.diagnostics.exit_code(), 2);
  }
}

TEST(Resolve, RelativePathsCountFromTheFileThatHoldsThem) {
  const Scratch scratch;
  scratch.write("deep/base.json", R"({"run": {"dir": "base_runs"}, "vars": {"root": "data"}})");
  scratch.write("pipes/p.json", R"({"extends": "../deep/base.json", "format": 1, "name": "x",
    "nodes": {"a": {"use": "x:y", "with": {"f": "${vars.root}/f", "g": "pre/${vars.root}", "h": "h", "i": "/abs"}}},
    "fit": {"data": "d", "loss": "l", "epochs": 1}})");
  ResolveRequest request;
  request.pipeline = "pipes/p.json";
  request.sets = {"+nodes.a.with.s=\"s\""};
  const Outcome outcome = resolve_all(request);
  EXPECT_EQ(outcome.found(), Found{});
  EXPECT_EQ(outcome.resolved.path("/run/dir"), "pipes/../deep/base_runs");
  EXPECT_EQ(outcome.resolved.path("/nodes/a/with/f"), "pipes/../deep/data/f");
  EXPECT_EQ(outcome.resolved.path("/nodes/a/with/g"), "pipes/pre/data");
  EXPECT_EQ(outcome.resolved.path("/nodes/a/with/h"), "pipes/h");
  EXPECT_EQ(outcome.resolved.path("/nodes/a/with/i"), "/abs");
  EXPECT_EQ(outcome.resolved.path("/nodes/a/with/s"), "s");
  EXPECT_EQ(outcome.resolved.path("/format"), std::nullopt);
  EXPECT_EQ(resolve_text(kSmall).resolved.path("/run/dir"), "runs");
}

TEST(Resolve, ApplySchemaChecksFillsAndRemembers) {
  const Json schema = Json::parse(R"({"type": "object", "additionalProperties": false, "required": ["classes"],
      "properties": {"classes": {"type": "integer"}, "dropout": {"type": "number", "default": 0.5}}})");
  Outcome outcome = resolve_text(kSmall);
  EXPECT_FALSE(outcome.resolved.apply_schema("/nodes/net/with", schema, "model:cnn", outcome.diagnostics));
  EXPECT_EQ(outcome.found(), (Found{"missing-key pipe.json:8:5 /nodes/net/with"}));
  EXPECT_EQ(outcome.diagnostics.all().front().message, "model:cnn needs the parameter \"classes\" (integer)");
  EXPECT_EQ(outcome.at("/nodes/net/with"), Json::parse(R"({"dropout": 0.5})"));
  EXPECT_EQ(outcome.resolved.origin("/nodes/net/with/dropout").describe(), "default of model:cnn");
}

TEST(Resolve, AWrongVariableIsShownWhereItIsUsedAndWhereItIsWritten) {
  std::string text = kSmall;
  text.replace(text.find("\"epochs\": 3"), 11, "\"epochs\": \"3\"");
  const Outcome outcome = resolve_text(text);
  ASSERT_EQ(outcome.found(), (Found{"wrong-type pipe.json:13:54 /fit/epochs"}));
  const Diagnostic& error = outcome.diagnostics.all().front();
  ASSERT_EQ(error.secondary.size(), 1U);
  EXPECT_EQ(error.secondary[0].span.describe(), "pipe.json:4:34");
  EXPECT_EQ(error.suggestion->span.describe(), "pipe.json:4:34");
  EXPECT_EQ(error.suggestion->replacement, "3");
}

// Files that cannot be read -------------------------------------------------------------------------------------------------

Outcome resolve_file(const std::string& path) {
  ResolveRequest request;
  request.pipeline = path;
  return resolve_all(request);
}

TEST(Resolve, AMissingFileSuggestsItsNeighbour) {
  const Scratch scratch;
  scratch.write("digits.json", kSmall);
  const Outcome outcome = resolve_file("digit.json");
  EXPECT_EQ(render_text(outcome.diagnostics),
            "error[missing-file]: digit.json does not exist\n   = did you mean \"digits.json\"?\n1 error; nothing was "
            "started\n");
  EXPECT_EQ(outcome.diagnostics.exit_code(), 2);
  EXPECT_EQ(resolve_file("none/digits.json").diagnostics.all().front().label, "there is no folder none");
}

TEST(Resolve, WhatIsNoReadableFileIsRefused) {
  const Scratch scratch;
  ASSERT_EQ(::mkfifo("pipe", 0600), 0);
  for (const char* path : {".", "/dev/zero", "/proc/self/mem", "pipe", ""}) {
    const Outcome outcome = resolve_file(path);
    EXPECT_EQ(outcome.found(), (Found{"unreadable-file"})) << path;
    EXPECT_EQ(outcome.diagnostics.exit_code(), 2);
    EXPECT_FALSE(outcome.resolved.usable());
  }
}

TEST(Resolve, EmptyBinaryAndHugeFilesAreRefused) {
  const Scratch scratch;
  scratch.write("empty.json", "");
  scratch.write("binary.json", std::string("\x7F"
                                           "ELF\0\1",
                                           6));
  scratch.write("huge.json", std::string((16U << 20) + 1, ' '));
  EXPECT_EQ(resolve_file("empty.json").found(), (Found{"empty-file empty.json:1:1"}));
  EXPECT_EQ(resolve_file("binary.json").found(), (Found{"binary-file"}));
  EXPECT_EQ(resolve_file("huge.json").found(), (Found{"unreadable-file"}));
}

TEST(Resolve, CommentsAreForJsonc) {
  const Scratch scratch;
  scratch.write("a.jsonc", "// why\n" + kSmall);
  scratch.write("a.json", "// why\n" + kSmall);
  EXPECT_EQ(resolve_file("a.jsonc").found(), Found{});
  EXPECT_EQ(resolve_file("a.json").found(), (Found{"comment a.json:1:1"}));
}

/// The best of five times in milliseconds for a pipeline of so many nodes, one a line.
double time_of_nodes(int count) {
  std::string nodes;
  for (int i = 0; i < count; ++i) {
    nodes += fmt::format(
        R"(    "n{}": {{ "use": "x:y", "in": "data", "with": {{ "p": "${{vars.lr}}", "q": [1, 2, 3] }} }},)", i);
    nodes += '\n';
  }
  std::string text = kSmall;
  text.insert(text.find("    \"data\""), nodes);
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = resolve_text(text);
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(outcome.found(), Found{});
    best = std::min(best, taken.count());
  }
  return best;
}

TEST(Resolve, TimeGrowsWithTheNumberOfLinesAndNotWithItsSquare) {
  const double few = time_of_nodes(250);
  const double many = time_of_nodes(8000);
  EXPECT_LT(many, 300 * few);  // 32 times the lines; quadratic growth is 1,024 times.
}

}  // namespace
}  // namespace tenon::core
