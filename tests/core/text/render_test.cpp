// The caret form and the JSON form of findings.
#include <core/text/render.hpp>

#include <memory>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include <core/json/json.hpp>

namespace tenon::core {
namespace {

/// The example of an unknown parameter, on line 31 of its file.
Diagnostic example() {
  std::string text(30, '\n');
  text += R"(      "with": { "momentun": 0.9, "lr": 0.1 } },)";
  const auto source = std::make_shared<const Source>("pipe.json", text);
  const std::size_t begin = text.find("\"momentun\"");
  Diagnostic diagnostic;
  diagnostic.code = "unknown-key";
  diagnostic.message = "optimizer:sgd has no parameter \"momentun\"";
  diagnostic.span = {source, begin, begin + 10};
  diagnostic.pointer = "/nodes/opt/with/momentun";
  diagnostic.label = "did you mean \"momentum\"?";
  diagnostic.notes = {"parameters: lr (number > 0), momentum (0..1), nesterov (bool), weight_decay (number >= 0)"};
  diagnostic.suggestion = {diagnostic.span, "\"momentum\"", Applicability::kSafe};
  return diagnostic;
}

Diagnostic at(const std::string& text, std::size_t begin, std::size_t end) {
  Diagnostic diagnostic;
  diagnostic.code = "fault";
  diagnostic.message = "is wrong";
  diagnostic.span = {std::make_shared<const Source>("a.json", text), begin, end};
  return diagnostic;
}

TEST(RenderText, IsTheCaretForm) {
  EXPECT_EQ(render_text(example()),
            "error[unknown-key]: optimizer:sgd has no parameter \"momentun\"\n"
            "  --> pipe.json:31:17  /nodes/opt/with/momentun\n"
            "31 |       \"with\": { \"momentun\": 0.9, \"lr\": 0.1 } },\n"
            "   |                 ^^^^^^^^^^ did you mean \"momentum\"?\n"
            "   = parameters: lr (number > 0), momentum (0..1), nesterov (bool), weight_decay (number >= 0)\n");
}

TEST(RenderText, ShowsStarsWhereAPlaceIsHidden) {
  Diagnostic diagnostic = at(R"({ "a": "hunter2", "b": 1 })", 23, 24);
  EXPECT_NE(render_text(diagnostic).find("hunter2"), std::string::npos);
  diagnostic.hidden = {{diagnostic.span.source, 7, 16}};
  EXPECT_EQ(render_text(diagnostic),
            "error[fault]: is wrong\n"
            "  --> a.json:1:24\n"
            "1  | { \"a\": ***, \"b\": 1 }\n"
            "   |                  ^\n");
  diagnostic.span = diagnostic.hidden.front();
  EXPECT_EQ(render_text(diagnostic),
            "error[fault]: is wrong\n"
            "  --> a.json:1:8\n"
            "1  | { \"a\": ***, \"b\": 1 }\n"
            "   |        ^^^\n");
}

TEST(RenderText, HidesAPlaceOverSeveralLinesInEachOfThem) {
  Diagnostic diagnostic = at("{ \"a\":\n [\"hunter\",\n \"2\"], \"b\": 1 }", 27, 28);
  diagnostic.hidden = {{diagnostic.span.source, 8, 24}};
  EXPECT_NE(render_text(diagnostic).find("3  | ***, \"b\": 1 }\n"), std::string::npos) << render_text(diagnostic);
}

TEST(Rendering, HidesPlacesInAllFindings) {
  Diagnostic secret = at(R"({ "a": "hunter2", "b": 1 })", 7, 16);
  Diagnostic other = secret;
  other.span = {secret.span.source, 23, 24};
  secret.hidden = {secret.span};
  Diagnostics diagnostics;
  diagnostics.add(other);
  diagnostics.add(secret);
  EXPECT_EQ(render_text(diagnostics).find("hunter2"), std::string::npos) << render_text(diagnostics);
  EXPECT_EQ(render_json(diagnostics).find("hunter2"), std::string::npos) << render_json(diagnostics);
}

TEST(RenderText, ClosesWithCountsAndTheOutcome) {
  Diagnostics diagnostics;
  EXPECT_EQ(render_text(diagnostics), "");
  Diagnostic warning = example();
  warning.severity = Severity::kWarning;
  diagnostics.add(warning);
  EXPECT_TRUE(render_text(diagnostics).ends_with("\n1 warning\n"));
  for (int i = 0; i < 3; ++i) diagnostics.add(example());
  EXPECT_TRUE(render_text(diagnostics).ends_with("\n3 errors, 1 warning; nothing was started\n"));
  EXPECT_TRUE(render_text(diagnostics, {.outcome = ""}).ends_with("\n3 errors, 1 warning\n"));
}

TEST(RenderText, ShowsAnArgumentWithItsOption) {
  const auto set = std::make_shared<const Source>("--set", "nodes.opt.with.lr=\"x\"", Source::Kind::kArgument);
  Diagnostic diagnostic;
  diagnostic.code = "wrong-type";
  diagnostic.message = "no number";
  diagnostic.span = {set, 18, 21};
  diagnostic.pointer = "/nodes/opt/with/lr";
  EXPECT_EQ(render_text(diagnostic),
            "error[wrong-type]: no number\n"
            "  --> --set nodes.opt.with.lr=…  /nodes/opt/with/lr\n"
            "   | --set nodes.opt.with.lr=\"x\"\n"
            "   |                         ^^^\n");
}

TEST(RenderText, AKeyCannotCommandTheTerminal) {
  Diagnostic diagnostic = at("{\"lr\": 1}", 1, 5);
  diagnostic.pointer = "/nodes/\x1b[31m\x7f";
  EXPECT_NE(render_text(diagnostic).find("/nodes/\\u001b[31m\\u007f\n"), std::string::npos);
}

TEST(RenderText, AFileNamedInASentenceCannotCommandTheTerminal) {
  Diagnostic diagnostic;
  diagnostic.message = "\x1b]0;title\x07 \u202etxt.\u2066 is ümlaut\tdamaged\n  twice";
  diagnostic.notes.emplace_back("see \x1b[31m");
  const std::string text = render_text(diagnostic);
  EXPECT_NE(text.find("\\u001b]0;title\\u0007 \\u202etxt.\\u2066 is ümlaut\tdamaged\n  twice\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("see \\u001b[31m\n"), std::string::npos) << text;
}

TEST(RenderText, AFileNamedInASentenceCannotFakeALine) {
  Diagnostic diagnostic;
  diagnostic.message = "cannot read a\nerror: b.jpg";
  diagnostic.notes.emplace_back("see c\nerror: d.jpg");
  EXPECT_EQ(render_text(diagnostic), "error: cannot read a\n  error: b.jpg\n   = see c\n  error: d.jpg\n");
  diagnostic = at("{\"lr\": 1}", 1, 5);
  diagnostic.span.source = std::make_shared<const Source>("a\nerror: b.json", "{\"lr\": 1}");
  EXPECT_NE(render_text(diagnostic).find("  --> a\\nerror: b.json:1:2\n"), std::string::npos);
}

TEST(RenderText, ShowsSecondaryPlacesWithDashes) {
  Diagnostic diagnostic = at("{\"lr\": 1}\n{\"lr\": 2}", 11, 15);
  const Span first{diagnostic.span.source, 1, 5};
  diagnostic.secondary.push_back({first, "first here"});
  EXPECT_EQ(render_text(diagnostic),
            "error[fault]: is wrong\n"
            "  --> a.json:2:2\n"
            "2  | {\"lr\": 2}\n"
            "   |  ^^^^\n"
            "  ::: a.json:1:2\n"
            "1  | {\"lr\": 1}\n"
            "   |  ---- first here\n");
}

TEST(RenderText, WithoutAPlaceTheLabelIsANote) {
  Diagnostic diagnostic;
  diagnostic.code = "missing-file";
  diagnostic.message = "pip.json does not exist";
  diagnostic.label = "did you mean \"pipe.json\"?";
  EXPECT_EQ(render_text(diagnostic),
            "error[missing-file]: pip.json does not exist\n   = did you mean \"pipe.json\"?\n");
}

TEST(RenderText, TabsAndControlCharactersKeepTheCaretInPlace) {
  const std::string out = render_text(at("\t\x01\"é\" x", 7, 8));
  EXPECT_NE(out.find("1  |     ·\"é\" x\n"), std::string::npos) << out;
  EXPECT_NE(out.find("   |          ^\n"), std::string::npos) << out;
}

TEST(RenderText, ASpanOverLinesIsMarkedOnItsFirst) {
  const std::string out = render_text(at("{ \"a\":\n  1 }", 0, 12));
  EXPECT_NE(out.find("1  | { \"a\":\n   | ^^^^^^\n"), std::string::npos) << out;
}

TEST(RenderText, TheEndOfTheTextHasACaret) {
  const std::string out = render_text(at("{\n", 2, 2));
  EXPECT_NE(out.find("--> a.json:2:1\n2  | \n   | ^\n"), std::string::npos) << out;
}

TEST(RenderText, LongLinesAreCutAroundTheMark) {
  for (const std::size_t length : {300U, 100'000U}) {
    std::string text(length, 'a');
    text[length / 2] = '#';
    const std::string out = render_text(at(text, length / 2, length / 2 + 1));
    std::istringstream lines(out);
    std::string title;
    std::string place;
    std::string shown;
    std::string mark;
    std::getline(lines, title);
    std::getline(lines, place);
    std::getline(lines, shown);
    std::getline(lines, mark);
    EXPECT_LT(shown.size(), 200U);
    // A mark at the right of "…" (three bytes, one column) stands two bytes further left.
    const std::size_t shift = shown.find("…a") < shown.find('#') ? 2 : 0;
    EXPECT_EQ(mark.find('^') + shift, shown.find('#')) << out;
  }
}

TEST(RenderText, ColoursOnlyWhenAsked) {
  EXPECT_EQ(render_text(example()).find('\x1b'), std::string::npos);
  const std::string out = render_text(example(), {.color = true});
  EXPECT_NE(out.find("\x1b[1;31merror[unknown-key]\x1b[0m"), std::string::npos);
}

TEST(WantColor, FollowsTheTerminalAndTheEnvironment) {
  EXPECT_TRUE(want_color(true, nullptr, "xterm"));
  EXPECT_TRUE(want_color(true, "", nullptr));
  EXPECT_FALSE(want_color(false, nullptr, "xterm"));
  EXPECT_FALSE(want_color(true, "1", "xterm"));
  EXPECT_FALSE(want_color(true, nullptr, "dumb"));
}

TEST(RenderJson, HasTheMembersOfRustc) {
  Diagnostic diagnostic = example();
  const Span there{diagnostic.span.source, 0, 1};
  diagnostic.secondary.push_back({there, "there"});
  const std::string out = render_json(diagnostic);
  ASSERT_EQ(out.find('\n'), out.size() - 1);
  const Json json = Json::parse(out);
  EXPECT_EQ(json.at("message"), diagnostic.message);
  EXPECT_EQ(json.at("code").at("code"), "unknown-key");
  EXPECT_EQ(json.at("level"), "error");
  EXPECT_EQ(json.at("rendered"), render_text(diagnostic));
  EXPECT_EQ(json.at("pointer"), "/nodes/opt/with/momentun");
  EXPECT_EQ(json.at("exit_code"), 2);

  const Json& span = json.at("spans").at(0);
  EXPECT_EQ(span.at("file_name"), "pipe.json");
  EXPECT_EQ(span.at("line_start"), 31);
  EXPECT_EQ(span.at("line_end"), 31);
  EXPECT_EQ(span.at("column_start"), 17);
  EXPECT_EQ(span.at("column_end"), 27);
  EXPECT_EQ(span.at("byte_start"), 46);
  EXPECT_EQ(span.at("byte_end"), 56);
  EXPECT_EQ(span.at("is_primary"), true);
  EXPECT_EQ(span.at("label"), diagnostic.label);
  EXPECT_EQ(span.at("text").at(0).at("highlight_start"), 17);
  EXPECT_EQ(json.at("spans").at(1).at("is_primary"), false);
  EXPECT_EQ(json.at("spans").at(1).at("label"), "there");

  EXPECT_EQ(json.at("children").at(0).at("level"), "note");
  const Json& help = json.at("children").at(1);
  EXPECT_EQ(help.at("level"), "help");
  EXPECT_EQ(help.at("spans").at(0).at("suggested_replacement"), "\"momentum\"");
  EXPECT_EQ(help.at("spans").at(0).at("suggestion_applicability"), "MachineApplicable");
}

TEST(RenderJson, SurvivesBytesThatAreNoUtf8) {
  const Json json =
      Json::parse(render_json(at("a\xFF"
                                 "b",
                                 1, 2)));
  EXPECT_EQ(json.at("spans").at(0).at("column_start"), 2);
}

}  // namespace
}  // namespace tenon::core
