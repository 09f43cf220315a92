// JSON with positions: values as nlohmann reads them, every fault at its place, and reading that goes on.
#include <core/json/reader.hpp>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

struct Read {
  Document document;
  Diagnostics diagnostics;
};

Read read(const std::string& text, Comments comments = Comments::kRefuse) {
  Read result;
  ReadOptions options;
  options.comments = comments;
  result.document = read_json(std::make_shared<const Source>("a.json", text), result.diagnostics, options);
  return result;
}

/// "code line:column" of every finding, in order.
std::vector<std::string> faults(const Diagnostics& diagnostics) {
  std::vector<std::string> out;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    const Position at = diagnostic.span.position();
    out.push_back(diagnostic.code + " " + std::to_string(at.line) + ":" + std::to_string(at.column));
  }
  return out;
}

// What is right -------------------------------------------------------------------------------------------------------------

class ReaderAccepts : public testing::TestWithParam<const char*> {};

TEST_P(ReaderAccepts, WhatNlohmannReads) {
  const Read result = read(GetParam());
  EXPECT_TRUE(result.diagnostics.empty());
  EXPECT_TRUE(result.document.complete);
  EXPECT_EQ(result.document.value, Json::parse(GetParam()));
  EXPECT_EQ(result.document.value.dump(), Json::parse(GetParam()).dump());
}

INSTANTIATE_TEST_SUITE_P(Values, ReaderAccepts,
                         testing::Values("{}", "[]", "null", "true", " false ", "0", "-0", "-0.0", "12", "-7", "1.5",
                                         "1e3", "1E-3", "2.5e+10", "0.1", "9223372036854775807", "-9223372036854775808",
                                         "1.7976931348623157e308", "5e-324", "\"\"", R"("a\"\\\/\b\f\n\r\tz")",
                                         R"("\u00e9\u20ac\ud83d\ude00")", "\"é€😀\"", "\"\x7f\"", R"("\u0000")",
                                         R"({"a":1,"b":[1,2,{"c":null}],"d":{"e":{}}})", "[[[[]]],{}]",
                                         "{\r\n\t\"a\" : [ 1 , 2 ] }\r\n", R"({"":0,"a/b":1,"~":2})",
                                         R"(["a b", "{", "]", ",", ":"])"));

TEST(Reader, IntegersAndFloatsKeepTheirKind) {
  const Read result = read("[1, 1.0, 1e0, -1]");
  EXPECT_TRUE(result.document.value[0].is_number_integer());
  EXPECT_TRUE(result.document.value[1].is_number_float());
  EXPECT_TRUE(result.document.value[2].is_number_float());
  EXPECT_TRUE(result.document.value[3].is_number_integer());
}

TEST(Reader, ObjectsKeepTheirOrder) { EXPECT_EQ(read(R"({"b":1,"a":2})").document.value.dump(), R"({"b":1,"a":2})"); }

TEST(Reader, KnowsThePlaceOfEveryKeyAndValue) {
  const Read result = read("{\n  \"a\": [10, {\"b/c\": \"x\"}],\n  \"d\": { }\n}\n");
  const PlaceTable& places = result.document.places;
  const auto key = [&](const char* pointer) { return std::string(places.find(pointer)->key.text()); };
  const auto value = [&](const char* pointer) { return std::string(places.find(pointer)->value.text()); };
  EXPECT_EQ(key("/a"), "\"a\"");
  EXPECT_EQ(value("/a"), "[10, {\"b/c\": \"x\"}]");
  EXPECT_EQ(value("/a/0"), "10");
  EXPECT_EQ(key("/a/0"), "");
  EXPECT_EQ(key("/a/1/b~1c"), "\"b/c\"");
  EXPECT_EQ(value("/a/1/b~1c"), "\"x\"");
  EXPECT_EQ(places.find("/a/1/b~1c")->value.position(), (Position{2, 21}));
  EXPECT_EQ(value("/d"), "{ }");
  EXPECT_EQ(places.find("/d")->key.position(), (Position{3, 3}));
  EXPECT_EQ(places.find("")->value.position(), (Position{1, 1}));
}

TEST(Reader, CommentsAreBlanksWhereTheyAreAllowed) {
  const std::string text = "// first\n{ /* in\n it */ \"a\": 1, // last\n \"b\": 2 }\n/**/";
  const Read allowed = read(text, Comments::kAllow);
  EXPECT_TRUE(allowed.diagnostics.empty());
  EXPECT_EQ(allowed.document.value, Json::parse(R"({"a":1,"b":2})"));
  const Read refused = read(text);
  EXPECT_EQ(faults(refused.diagnostics), (std::vector<std::string>{"comment 1:1"}));
  EXPECT_EQ(refused.document.value, allowed.document.value);
}

TEST(Reader, TheExtensionDecidesAboutComments) {
  EXPECT_EQ(comments_for("a/b.jsonc"), Comments::kAllow);
  EXPECT_EQ(comments_for("a/b.json"), Comments::kRefuse);
  EXPECT_EQ(comments_for(".jsonc"), Comments::kRefuse);
}

TEST(Reader, AByteOrderMarkIsAWarning) {
  const Read result = read("\xEF\xBB\xBF{\"a\": 1}");
  EXPECT_EQ(faults(result.diagnostics), (std::vector<std::string>{"byte-order-mark 1:1"}));
  EXPECT_FALSE(result.diagnostics.has_errors());
  EXPECT_EQ(result.document.places.find("/a")->key.position(), (Position{1, 2}));
}

TEST(Reader, ReadsFromAnOffsetWithPlacesInTheWholeText) {
  const auto source = std::make_shared<const Source>("--set", "a.b={\"c\": 1}", Source::Kind::kArgument);
  Diagnostics diagnostics;
  ReadOptions options;
  options.begin = 4;
  options.pointer = "/a/b";
  const Document document = read_json(source, diagnostics, options);
  EXPECT_EQ(document.value, Json::parse(R"({"c":1})"));
  EXPECT_EQ(document.places.find("/c")->value.begin, 10U);
}

// What is wrong -------------------------------------------------------------------------------------------------------------

struct Fault {
  const char* name;
  std::string text;
  std::vector<std::string> found;
  const char* value;          ///< What is understood all the same; null: nothing, or it does not matter.
  const char* fix = nullptr;  ///< Replacement that the first finding suggests.
};

// NOLINTNEXTLINE(readability-identifier-naming): the name that GoogleTest looks for
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class ReaderReports : public testing::TestWithParam<Fault> {};

TEST_P(ReaderReports, EveryFaultAtItsPlace) {
  const Fault& fault = GetParam();
  const Read result = read(fault.text);
  EXPECT_EQ(faults(result.diagnostics), fault.found) << fault.text;
  if (fault.value != nullptr) {
    EXPECT_EQ(result.document.value, Json::parse(fault.value)) << result.document.value.dump();
  }
  if (fault.fix != nullptr) {
    ASSERT_TRUE(result.diagnostics.all().front().suggestion.has_value());
    EXPECT_EQ(result.diagnostics.all().front().suggestion->replacement, fault.fix);
  }
}

const std::vector<Fault> kFaults{
    {"empty", "", {"empty-file 1:1"}, nullptr},
    {"blank", " \n\t ", {"empty-file 1:1"}, nullptr},
    {"trailing_comma_in_object", "{\"a\": 1,\n}", {"trailing-comma 1:8"}, R"({"a":1})", ""},
    {"trailing_comma_in_list", "[1, 2, ]", {"trailing-comma 1:6"}, "[1,2]", ""},
    {"duplicate_key", "{\"a\": 1, \"b\": 2, \"a\": 3}", {"duplicate-key 1:18"}, R"({"a":1,"b":2})"},
    {"duplicate_object", R"({"a": {"x": 1}, "a": {"y": 2}})", {"duplicate-key 1:17"}, R"({"a":{"x":1}})"},
    {"missing_comma_in_object", "{\"a\": 1\n \"b\": 2}", {"missing-comma 1:8"}, R"({"a":1,"b":2})", ","},
    {"missing_comma_in_list", "[1 [2] \"x\"]", {"missing-comma 1:3", "missing-comma 1:7"}, R"([1,[2],"x"])"},
    {"missing_comma_before_word", "[true\n false]", {"missing-comma 1:6"}, "[true,false]"},
    {"missing_colon", "{\"a\" 1}", {"missing-colon 1:5"}, R"({"a":1})", ":"},
    {"equals_for_colon", "{\"a\" = 1}", {"missing-colon 1:6"}, R"({"a":1})", ":"},
    {"missing_value", "{\"a\": , \"b\": 2}", {"missing-value 1:7"}, R"({"b":2})"},
    {"key_alone", "{\"a\", \"b\": 2}", {"missing-value 1:2"}, R"({"b":2})"},
    {"missing_last_value", "{\"a\":}", {"missing-value 1:6"}, "{}"},
    {"two_commas", "[1,,2]", {"unexpected 1:4"}, "[1,2]", ""},
    {"two_commas_in_object", R"({"a": 1,, "b": 2})", {"unexpected 1:9"}, R"({"a":1,"b":2})"},
    {"line_comment", "{ // no\n\"a\": 1}", {"comment 1:3"}, R"({"a":1})"},
    {"hash_comment", "# no\n{}", {"comment 1:1"}, "{}"},
    {"block_comment", "{ /* a\n b */ }", {"comment 1:3"}, "{}"},
    {"single_quotes", "{'a': 'b\"c'}", {"single-quotes 1:2", "single-quotes 1:7"}, R"({"a":"b\"c"})", "\"a\""},
    {"unquoted_key", "{a: 1, b_c: 2}", {"unquoted-key 1:2", "unquoted-key 1:8"}, R"({"a":1,"b_c":2})", "\"a\""},
    {"number_as_key", "{1: 2}", {"unquoted-key 1:2"}, R"({"1":2})", "\"1\""},
    {"unquoted_string", "{\"a\": adamw}", {"unquoted-string 1:7"}, R"({"a":"adamw"})", "\"adamw\""},
    {"unquoted_component", "[optimizer:adamw]", {"unquoted-string 1:2"}, R"(["optimizer:adamw"])"},
    {"python_true", "[True]", {"unquoted-string 1:2"}, "[true]", "true"},
    {"python_none", "[None]", {"unquoted-string 1:2"}, "[]", "null"},
    {"misspelt_false", "[fasle]", {"unquoted-string 1:2"}, "[false]", "false"},
    {"nan", "[NaN, 1]", {"not-a-number 1:2"}, "[1]"},
    {"infinity", "[-Infinity, +inf]", {"not-a-number 1:2", "not-a-number 1:13"}, "[]"},
    {"leading_zero", "[007]", {"bad-number 1:2"}, "[7]", "7"},
    {"plus_sign", "[+5]", {"bad-number 1:2"}, "[5]", "5"},
    {"no_digit_before_point", "[.5, -.5]", {"bad-number 1:2", "bad-number 1:6"}, "[0.5,-0.5]", "0.5"},
    {"no_digit_behind_point", "[5.]", {"bad-number 1:2"}, "[5.0]", "5.0"},
    {"hexadecimal", "[0x1F]", {"bad-number 1:2"}, "[31]", "31"},
    {"separators", "[1_000]", {"bad-number 1:2"}, "[1000]", "1000"},
    {"no_number",
     "[1e, --1, 1.2.3, -]",
     {"bad-number 1:2", "bad-number 1:6", "bad-number 1:11", "bad-number 1:18"},
     "[]"},
    {"unit_without_quotes", "[10ms]", {"bad-number 1:2"}, R"(["10 ms"])", "\"10 ms\""},
    {"blank_before_unit", "{\"a\": 5 epochs, \"b\": 1}", {"unexpected 1:9"}, R"({"a":5,"b":1})"},
    {"integer_too_large", "[9223372036854775808]", {"number-range 1:2"}, "[]"},
    {"integer_too_small", "[-9223372036854775809]", {"number-range 1:2"}, "[]"},
    {"float_too_large", "[1e999, 1e-999]", {"number-range 1:2", "number-range 1:9"}, "[]"},
    {"bad_escape", R"(["a\qb"])", {"bad-escape 1:4"}, R"(["a\\qb"])"},
    {"windows_path", R"(["C:\data"])", {"bad-escape 1:5"}, nullptr},
    {"bad_unicode_escape", R"(["\u12g4"])", {"bad-escape 1:3"}, nullptr},
    {"lone_surrogate", R"(["\ud800x", "\udc00"])", {"bad-escape 1:3", "bad-escape 1:14"}, nullptr},
    {"tab_in_string", "[\"a\tb\tc\"]", {"bad-string 1:4"}, R"(["a\tb\tc"])", "\\t"},
    {"control_in_string", "[\"a\x01\"]", {"bad-string 1:4"}, R"(["a\u0001"])", "\\u0001"},
    {"string_not_closed", "{\"a\": \"x,\n \"b\": 2}", {"bad-string 1:7"}, R"({"a":"x","b":2})"},
    {"key_not_closed", "{\"a: 1,\n \"b\": 2}", {"bad-string 1:2"}, R"({"a":1,"b":2})"},
    {"quote_within_string", "{\"a\": \"x\"y\", \"z\": 0,\n \"b\": 2}", {"bad-string 1:9"}, R"({"a":"xy","z":0,"b":2})"},
    {"invalid_utf8_in_string", "[\"a\xFFz\", 1]", {"invalid-utf8 1:4"}, "[\"a\xEF\xBF\xBDz\",1]"},
    {"invalid_utf8_outside", "{\n \x80 \"a\": 1}", {"invalid-utf8 2:2"}, nullptr},
    {"wrong_bracket_of_list", "{\"a\": [1, 2}, \"b\": 3}", {"wrong-bracket 1:12"}, R"({"a":[1,2],"b":3})"},
    {"wrong_bracket_of_object", "[{\"a\": 1], 2]", {"wrong-bracket 1:9"}, R"([{"a":1},2])"},
    {"bracket_that_fits_nothing", "{\"a\": 1]", {"wrong-bracket 1:8"}, R"({"a":1})"},
    {"key_in_list", "[\"a\": 1, 2]", {"unexpected 1:5"}, nullptr},
    {"value_without_key", "{ {\"a\": 1}, \"b\": 2 }", {"unexpected 1:3"}, R"({"b":2})"},
    {"garbage_for_a_value", "{\"a\": @x,\n \"b\": 2}", {"unexpected 1:7"}, R"({"b":2})"},
    {"garbage_for_a_key", "{ ;\n \"b\": 2}", {"unexpected 1:3"}, R"({"b":2})"},
    {"no_break_space", "{\n\xC2\xA0\"a\": 1}", {"unexpected 2:1"}, R"({"a":1})"},
    {"typographic_quotes",
     "{\xE2\x80\x9C"
     "a\xE2\x80\x9D: 1,\n \"b\": 2}",
     {"unexpected 1:2"},
     nullptr},
    {"one_bracket_too_many", "{\"a\": 1}}", {"trailing-text 1:9"}, R"({"a":1})"},
    {"object_closed_early", "{\"a\": 1},\n \"b\": 2}", {"stray-bracket 1:8"}, R"({"a":1,"b":2})"},
    {"two_values", "{} {}", {"trailing-text 1:4"}, "{}"},
    {"truncated_in_object", "{\"a\": {\"b\": 1", {"truncated 1:14"}, nullptr},
    {"truncated_in_list", "{\"a\": [1,", {"truncated 1:10"}, nullptr},
    {"truncated_in_string", "{\"a\": \"x", {"truncated 1:9"}, nullptr},
    {"truncated_in_key", "{\"a", {"truncated 1:4"}, nullptr},
    {"truncated_behind_key", "{\"a\"\n", {"truncated 1:5"}, nullptr},
    {"truncated_behind_colon", "{\"a\":  \n", {"truncated 1:6"}, nullptr},
    {"truncated_in_comment", "{ /* x", {"truncated 1:7"}, nullptr},
    {"truncated_in_escape", "[\"a\\", {"truncated 1:5"}, nullptr},
    {"zero_byte", std::string("{\"a\": \0}", 8), {"binary-file 1:1"}, nullptr},
    {"shared_library",
     "\x7F"
     "ELF...",
     {"binary-file 1:1"},
     nullptr},
    {"utf16", std::string("\xFF\xFE{\0}\0", 6), {"binary-file 1:1"}, nullptr},
    {"zip", "PK\x03\x04...", {"binary-file 1:1"}, nullptr},
    {"several",
     "{\n \"a\": 01,\n 'b': 2,\n \"c\": [1, 2,],\n \"d\": tru\n \"e\": 5\n}",
     {"bad-number 2:7", "single-quotes 3:2", "trailing-comma 4:12", "unquoted-string 5:7", "missing-comma 5:10"},
     R"({"a":1,"b":2,"c":[1,2],"d":true,"e":5})"},
};

INSTANTIATE_TEST_SUITE_P(Faults, ReaderReports, testing::ValuesIn(kFaults),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(Reader, OnlyWhatStopsReadingMakesADocumentIncomplete) {
  EXPECT_TRUE(read("{\"a\": 1,}").document.complete);
  EXPECT_FALSE(read("{\"a\": 1").document.complete);
  EXPECT_FALSE(read("").document.usable());
  EXPECT_FALSE(read("@").document.usable());
}

TEST(Reader, FindingsCarryThePointerOfTheSpoiltValue) {
  const Read result = read(R"({"a": {"b": [1, 02]}, "c": @})");
  EXPECT_EQ(result.diagnostics.all().at(0).pointer, "/a/b/1");
  EXPECT_EQ(result.diagnostics.all().at(1).pointer, "/c");
}

TEST(Reader, ADuplicatePointsToTheFirst) {
  const Read result = read(R"({"lr": 1, "lr": 2})");
  ASSERT_EQ(result.diagnostics.all().front().secondary.size(), 1U);
  EXPECT_EQ(result.diagnostics.all().front().secondary.front().span.position(), (Position{1, 2}));
}

TEST(Reader, TruncationNamesWhatIsStillOpen) {
  const Read result = read("{\"a\": [{\"b\": 1");
  EXPECT_EQ(result.diagnostics.all().front().notes.front(), "still open, from the inside: }]}");
  EXPECT_EQ(result.diagnostics.all().front().secondary.front().span.position(), (Position{1, 8}));
}

TEST(Reader, ReadsToTheGreatestDepthAndNoFurther) {
  const std::string most = std::string(kMaxJsonDepth, '[') + std::string(kMaxJsonDepth, ']');
  EXPECT_TRUE(read(most).diagnostics.empty());
  EXPECT_EQ(faults(read("[" + most + "]").diagnostics), (std::vector<std::string>{"too-deep 1:201"}));
  EXPECT_EQ(faults(read(std::string(1'000'000, '[')).diagnostics), (std::vector<std::string>{"too-deep 1:201"}));
}

TEST(Reader, GivesAPlaceToTheValueThatIsTooDeep) {
  const Document document = read("[" + std::string(kMaxJsonDepth, '[') + "1").document;
  std::string pointer;
  for (std::size_t i = 0; i < kMaxJsonDepth; ++i) pointer += "/0";
  ASSERT_NE(document.places.find(pointer), nullptr);
  EXPECT_EQ(document.places.find(pointer)->value.text(), "[");
}

TEST(Reader, KeysWordsAndMessagesAreUtf8WhateverTheTextIs) {
  const Read result = read("{a\xFF: x\xFF, \"b\xFF\" 1, \"c\xFF\"}");
  EXPECT_EQ(faults(result.diagnostics),
            (std::vector<std::string>{"unquoted-key 1:2", "unquoted-string 1:6", "invalid-utf8 1:12",
                                      "missing-colon 1:14", "invalid-utf8 1:20", "missing-value 1:18"}));
  EXPECT_EQ(result.document.value.dump(), "{\"a\uFFFD\":\"x\uFFFD\",\"b\uFFFD\":1}");
  EXPECT_EQ(result.diagnostics.all()[0].suggestion->applicability, Applicability::kMaybe);
  for (const Diagnostic& diagnostic : result.diagnostics.all()) {
    EXPECT_NO_THROW((void)Json({diagnostic.message, diagnostic.label, diagnostic.pointer}).dump()) << diagnostic.code;
  }
}

TEST(Reader, GivesUpAfterTooManyErrors) {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += "01,\n";
  const Read result = read(text + "1]");
  EXPECT_EQ(result.diagnostics.errors(), kMaxSyntaxErrors + 1);
  EXPECT_EQ(result.diagnostics.all().back().code, "too-many-errors");
  EXPECT_FALSE(result.document.complete);
}

}  // namespace
}  // namespace tenon::core
