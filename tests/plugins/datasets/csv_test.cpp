// dataset:csv: values to the bit, the rules of RFC 4180, and faults told with their places, all at once.
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>

#include <plugins/datasets/opened.hpp>
#include <tenon/components/remarks.hpp>

namespace tenon::test {
namespace {

Json field(const std::string& name, const std::string& type = "number", const std::string& column = "") {
  Json json{{"name", name}, {"type", type}};
  if (!column.empty()) json["column"] = column;
  return json;
}

class Csv : public testing::Test {
 protected:
  /// `fields`: a list, or one field.
  [[nodiscard]] Json params(const Json& fields, const Json& more = Json::object()) const {
    Json json{{"path", path_}, {"fields", fields.is_array() ? fields : Json::array({fields})}};
    json.update(more);
    return json;
  }

  [[nodiscard]] Made<Dataset> load(const std::string& text, const Json& fields,
                                   const Json& more = Json::object()) const {
    put(path_, text);
    return opened("csv", params(fields, more));
  }

  /// The message, with the path as "F".
  [[nodiscard]] std::string faults(const std::string& text, const Json& fields,
                                   const Json& more = Json::object()) const {
    put(path_, text);
    const Error error = refused("csv", params(fields, more));
    EXPECT_EQ(error.code(), ErrorCode::kData) << error.what();
    const std::string told = error.what();
    std::string message;
    std::size_t from = 0;
    for (std::size_t at = told.find(path_); at != std::string::npos; at = told.find(path_, from)) {
      message.append(told, from, at - from).append("F");
      from = at + path_.size();
    }
    message.append(told, from);
    return message;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "data.csv";
};

std::vector<std::string> texts(const Dataset& dataset, const std::string& name) {
  std::vector<std::string> all;
  for (int64_t i = 0; i < dataset.size(); ++i) {
    MemorySample sample(dataset.spec());
    dataset.read(i, sample);
    const std::vector<uint8_t> bytes = sample.written<uint8_t>(name);
    all.emplace_back(bytes.begin(), bytes.end());
  }
  return all;
}

TEST_F(Csv, SaysItsFieldsBeforeThereIsAFile) {
  Json vector{{"name", "x"}, {"columns", {"a", "b", "c"}}};
  Json wide{{"name", "w"}, {"dtype", "float64"}};
  EXPECT_EQ(text_of(made("csv", params({vector, wide, field("n", "integer"), field("t", "text")}))->spec()),
            "x float32[3], w float64[], n int64[], t uint8[?]");
}

TEST_F(Csv, ReadsColumnsByNameInTheOrderOfTheFields) {
  const auto dataset = load("a,b,label,c\n1,2.5,7,-3e2\n4,+5,-8,.5\n",
                            {{{"name", "x"}, {"columns", {"c", "a"}}}, field("y", "integer", "label"), field("b")});
  ASSERT_EQ(dataset->size(), 2);
  EXPECT_EQ(column<float>(*dataset, "x"), (std::vector<float>{-300, 1, 0.5F, 4}));
  EXPECT_EQ(column<int64_t>(*dataset, "y"), (std::vector<int64_t>{7, -8}));
  EXPECT_EQ(column<float>(*dataset, "b"), (std::vector<float>{2.5F, 5}));
}

TEST_F(Csv, ReadsColumnsByPositionWithoutAHeader) {
  const auto dataset = load("1;2;one\n3;4;two", {field("x", "number", "2"), field("t", "text", "3")},
                            {{"header", false}, {"delimiter", ";"}});
  EXPECT_EQ(column<float>(*dataset, "x"), (std::vector<float>{2, 4}));
  EXPECT_EQ(texts(*dataset, "t"), (std::vector<std::string>{"one", "two"}));
}

/// The text with a line end for each "|".
std::string lines(std::string_view text, std::string_view end) {
  std::string all;
  for (const char c : text) {
    if (c == '|') {
      all += end;
    } else {
      all += c;
    }
  }
  return all;
}

TEST_F(Csv, FollowsRfc4180) {
  const std::string table =
      "\xEF\xBB\xBFid,\"a \"\"quoted\"\" name\",t|"
      "1,\"2.5\",\"say \"\"hi\"\", then\r\nleave\"|2,3,\"\"|3,4,ünï ";
  const Json fields{field("id", "integer"), field("x", "number", "a \"quoted\" name"), field("t", "text")};
  for (const char* const end : {"\n", "\r\n"}) {
    for (const char* const last : {"", "|", "|||"}) {
      const auto dataset = load(lines(table + last, end), fields);
      EXPECT_EQ(column<int64_t>(*dataset, "id"), (std::vector<int64_t>{1, 2, 3}));
      EXPECT_EQ(column<float>(*dataset, "x"), (std::vector<float>{2.5F, 3, 4}));
      EXPECT_EQ(texts(*dataset, "t"), (std::vector<std::string>{"say \"hi\", then\r\nleave", "", "ünï "}));
    }
    EXPECT_EQ(faults(lines(table + ",|", end), fields), "F:5:1: the row has 4 cells, but the header has 3");
  }
}

TEST_F(Csv, TakesTabsAndBlanksAroundNumbers) {
  const auto dataset = load("a\tb\n 1\t 2 \n3 \t4\n", {field("a"), field("b", "integer")}, {{"delimiter", "\t"}});
  EXPECT_EQ(column<float>(*dataset, "a"), (std::vector<float>{1, 3}));
  EXPECT_EQ(column<int64_t>(*dataset, "b"), (std::vector<int64_t>{2, 4}));
}

TEST_F(Csv, KeepsEveryBitOfNumbers) {
  std::mt19937_64 random(7);
  std::vector<double> doubles{0.0, -0.0, 0.1, 5e-324, std::numeric_limits<double>::max(), 1.0 / 3};
  std::vector<int64_t> integers{0, -1, 1, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), 42};
  while (doubles.size() < 2000) {
    const auto bits = static_cast<uint64_t>(random());
    double value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    if (!std::isfinite(value)) continue;
    doubles.push_back(value);
    integers.push_back(static_cast<int64_t>(bits));
  }
  std::string text = "d,i,f\n";
  std::vector<float> floats;
  for (std::size_t i = 0; i < doubles.size(); ++i) {
    floats.push_back(static_cast<float>(static_cast<double>(integers[i]) * 1e-25));
    char line[128];
    std::snprintf(line, sizeof(line), "%.17g,%lld,%.9g\n", doubles[i], static_cast<long long>(integers[i]),
                  static_cast<double>(floats[i]));
    text += line;
  }
  const auto dataset = load(text, {{{"name", "d"}, {"dtype", "float64"}}, field("i", "integer"), field("f")});
  EXPECT_EQ(bytes_of(column<double>(*dataset, "d")), bytes_of(doubles));
  EXPECT_EQ(column<int64_t>(*dataset, "i"), integers);
  EXPECT_EQ(bytes_of(column<float>(*dataset, "f")), bytes_of(floats));
}

TEST_F(Csv, TellsWhereANumberIsNone) {
  EXPECT_EQ(faults("a,b\n1,2\n3,abc\n", {field("b")}), "F:3:3: column \"b\": \"abc\" is no number");
  EXPECT_EQ(faults("ä,b\nüü,1 2\n", {field("b")}), "F:2:4: column \"b\": \"1 2\" is no number");
  EXPECT_EQ(faults("a;b\n1;2,5\n", {field("b")}, {{"delimiter", ";"}}),
            "F:2:3: column \"b\": \"2,5\" is no number (the decimal point is \".\")");
  EXPECT_EQ(faults("a\n1e3\n", {field("a", "integer")}), "F:2:1: column \"a\": \"1e3\" is no integer");
  EXPECT_EQ(faults("a\n9223372036854775808\n", {field("a", "integer")}),
            "F:2:1: column \"a\": \"9223372036854775808\" is out of the range of int64");
  EXPECT_EQ(faults("a\n1e39\n", {field("a")}),
            "F:2:1: column \"a\": \"1e39\" is out of the range of float32: give \"dtype\": \"float64\"");
  EXPECT_EQ(faults("a\n1e999\n", {field("a")}), "F:2:1: column \"a\": \"1e999\" is out of the range of float64");
  EXPECT_EQ(faults("a\n+-1\n0x10\n", {field("a")}),
            "F:2:1: column \"a\": \"+-1\" is no number\nF:3:1: column \"a\": \"0x10\" is no number");
  for (const char* const infinite : {"inf", "-inf", "Infinity", "-nan"}) {
    EXPECT_EQ(faults(std::string("a\n") + infinite + "\n", {field("a")}),
              std::string("F:2:1: column \"a\": \"") + infinite + "\" is not finite");
  }
  EXPECT_NE(faults("a\n" + std::string(1000, 'x') + "\n", {field("a")}).find("\"" + std::string(40, 'x') + "…\""),
            std::string::npos);
}

TEST_F(Csv, RefusesOrSkipsMissingValuesOfColumnsInUse) {
  for (const char* const word :
       {"", " ", "NA", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "?", " ?", "\"\"", "\"NA\""}) {
    const std::string text = std::string("a,unused\n1,\n") + word + ",x\n3,\n";
    const std::string fault = faults(text, {field("a")});
    std::string quoted = word;
    if (!quoted.starts_with('"')) quoted = std::string(1, '"').append(quoted).append(1, '"');
    const bool empty = quoted.find_first_not_of(" \"") == std::string::npos;
    const std::string wanted =
        empty ? std::string("is empty") : "holds " + quoted + ", which stands for a missing value";
    EXPECT_EQ(fault, "F:3:1: column \"a\" " + wanted + ": fill it in, or drop such rows with \"missing\": \"skip\"");
    EXPECT_EQ(column<float>(*load(text, {field("a")}, {{"missing", "skip"}}), "a"), (std::vector<float>{1, 3})) << word;
  }
  EXPECT_EQ(faults("a\n\nNA\n", {field("a")}, {{"missing", "skip"}}),
            "F: all 2 rows lack a value in a column in use, and \"missing\": \"skip\" drops such rows");
  EXPECT_EQ(faults("a,b\n1,\n", {field("b")}, {{"missing", "skip"}}),
            "F: the only row lacks a value in a column in use, and \"missing\": \"skip\" drops such rows");
  EXPECT_EQ(faults("a,b\nx,1\n,2\n", {field("a", "text")}),
            "F:3:1: column \"a\" is empty: fill it in, put it in quotes if it is a text like any other, or drop such "
            "rows with \"missing\": \"skip\"");
}

TEST_F(Csv, TellsHowManyRowsItLeftOut) {
  const auto remarks = [&](const std::string& text) {
    const auto dataset = load(text, {field("a")}, {{"missing", "skip"}});
    void* const ability = dataset->ability(Remarks::kAbility);
    return ability == nullptr ? std::vector<std::string>{"no ability"} : static_cast<Remarks*>(ability)->remarks();
  };
  EXPECT_TRUE(remarks("a\n1\n2\n").empty());
  const std::vector<std::string> one = remarks("a\n1\n?\n");
  ASSERT_EQ(one.size(), 1U);
  EXPECT_TRUE(one[0].ends_with(R"(: 1 of 2 rows lacks a value and was left out ("missing": "skip"))")) << one[0];
  const std::vector<std::string> two = remarks("a\n1\n?\nNA\n");
  ASSERT_EQ(two.size(), 1U);
  EXPECT_TRUE(two[0].ends_with(R"(: 2 of 3 rows lack a value and were left out ("missing": "skip"))")) << two[0];
}

TEST_F(Csv, TakesQuotedTextAsItIs) {
  const auto dataset = load("t\n\"NA\"\n\"\"\n\"?\"\nNAN\n Rio \n", {field("t", "text")}, {{"missing", "skip"}});
  EXPECT_EQ(texts(*dataset, "t"), (std::vector<std::string>{"NA", "", "?", " Rio "}));
}

TEST_F(Csv, SkippingHidesNoOtherFault) {
  EXPECT_EQ(faults("a,b\n,x\n1,2\n", {field("a"), field("b")}, {{"missing", "skip"}}),
            "F:2:2: column \"b\": \"x\" is no number; a column of texts needs \"type\": \"text\"");
}

TEST_F(Csv, TellsTheLikelyCauseWhenTheFirstRowHoldsWords) {
  EXPECT_EQ(faults("a,b\n1,x\n2,y\n", {field("a"), field("b", "integer")}),
            "F:2:3: column \"b\": \"x\" is no integer; a column of texts needs \"type\": \"text\"\n"
            "F:3:3: column \"b\": \"y\" is no integer");
  EXPECT_EQ(faults("a,b\n1,2\n", {field("x", "number", "2")}, {{"header", false}}),
            "F:1:3: column \"2\": \"b\" is no number; if this row names the columns, leave out \"header\": false");
}

TEST_F(Csv, TellsRaggedRows) {
  EXPECT_EQ(faults("a,b,c\n1,2\n1,2,3\n1,2,3,4\n", {field("a")}),
            "F:2:1: the row has 2 cells, but the header has 3\nF:4:1: the row has 4 cells, but the header has 3");
  EXPECT_EQ(faults("1,2\n\n3,4\n", {field("a", "number", "1")}, {{"header", false}}),
            "F:2:1: the row has 1 cell, but the first row has 2");
}

TEST_F(Csv, TellsBrokenQuotes) {
  EXPECT_EQ(faults("a,b\n1,\"open\n2,3\n", {field("a")}), "F:2:3: this quote is never closed");
  EXPECT_TRUE(faults("a,b\n1,x\"y\n2,3\n", {field("a")}).starts_with("F:2:4: a quote within a cell"));
  EXPECT_TRUE(faults("a,b\n1,\"x\"y,z\n2,3\n", {field("a")}).starts_with("F:2:6: \"y\" stands behind a closing quote"));
  EXPECT_TRUE(faults("a,b\r1,2\r3,4\n", {field("a")}).starts_with("F:1:4: a carriage return alone"));
}

TEST_F(Csv, CountsLinesWithinQuotes) {
  EXPECT_EQ(faults("t,x\n\"one\ntwo\nthree\",1\nfour,y\n", {field("x")}), "F:5:6: column \"x\": \"y\" is no number");
}

TEST_F(Csv, TellsColumnsThatAreNotThereOrThereTwice) {
  put(path_, "sepal_length,sepal_width,species\n1,2,x\n");
  expect_error(
      refused("csv", params({field("x", "number", "sepal_lenght")})), ErrorCode::kData, "/fields/0/column",
      {path_, "\"sepal_lenght\"; did you mean \"sepal_length\"?", "\"sepal_length\", \"sepal_width\", \"species\""});
  expect_error(refused("csv", params({{{"name", "x"}, {"columns", {"species", "Sepal_Width", "petal"}}}})),
               ErrorCode::kData, "/fields/0/columns/1", {"did you mean \"sepal_width\"?"});
  expect_error(refused("csv", params({field("target")})), ErrorCode::kData, "/fields/0/name", {"no column \"target\""});
  EXPECT_EQ(faults("a,b,a,b\n1,2,3,4\n", {field("a")}),
            "F:1:5: column 3 is called \"a\" like column 1\nF:1:7: column 4 is called \"b\" like column 2");
  EXPECT_EQ(faults("1,2\n", {field("x", "number", "3")}, {{"header", false}}),
            "F: has no column \"3\". Its columns: \"1\", \"2\"");
  EXPECT_EQ(faults("a;b\n1;2\n", {field("b")}),
            "F: has no column \"b\". Its columns: \"a;b\"; that is one: set \"delimiter\" to \";\"");
}

TEST_F(Csv, TellsAllColumnsThatAreNotThereAtOnce) {
  const std::vector<Json> fields{
      {{"name", "x"}, {"columns", {"widht", "weight", "height"}}}, field("weight"), field("kind")};
  EXPECT_EQ(faults("width,height\n1,2\n", fields),
            "F: has no columns \"widht\"; did you mean \"width\"?, \"weight\"; did you mean \"height\"?, \"kind\". Its "
            "columns: \"width\", \"height\"");
  expect_error(refused("csv", params(fields)), ErrorCode::kData, "/fields/0/columns/0", {"\"kind\""});
}

TEST_F(Csv, SaysWhenTheFirstRowMayBeOneOfData) {
  const std::string advice = "; if the first row is one of data, \"header\": false calls the columns \"1\", \"2\", …";
  EXPECT_EQ(faults("1.5,-2,rose\n1,2,oak\n", {field("1")}),
            "F: has no column \"1\". Its columns: \"1.5\", \"-2\", \"rose\"" + advice);
  EXPECT_EQ(faults("2020,b,rose\n1,2,oak\n", {field("x")}),
            "F: has no column \"x\". Its columns: \"2020\", \"b\", \"rose\"");
}

TEST_F(Csv, SaysWhenAQuoteStandsBesideWhatMaySeparateCells) {
  EXPECT_EQ(faults("id;\"price; net\"\n1;2\n", {field("id")}),
            "F:1:4: a quote within a cell: if \";\" separates the cells, set \"delimiter\" to it");
  EXPECT_EQ(
      faults("\"id\"\t\"price\"\n1\t2\n", {field("id")}),
      "F:1:5: \"\\t\\\"price\\\"\" stands behind a closing quote; if \"\\t\" separates the cells, set \"delimiter\" to "
      "it");
}

TEST_F(Csv, TakesWholeNumbersWithAFractionOfZerosAsIntegers) {
  EXPECT_EQ(column<int64_t>(*load("a\n3.0\n-12.00\n9007199254740993.0\n", {field("a", "integer")}), "a"),
            (std::vector<int64_t>{3, -12, 9007199254740993}));
  EXPECT_EQ(faults("a\n3.5\n.0\n3.\n", {field("a", "integer")}),
            "F:2:1: column \"a\": \"3.5\" is no integer\nF:3:1: column \"a\": \".0\" is no integer\n"
            "F:4:1: column \"a\": \"3.\" is no integer");
}

TEST_F(Csv, TellsFilesThatAreNoText) {
  EXPECT_EQ(faults(std::string("\x1F\x8B\x08\0", 4), {field("a")}),
            "F: its gzip data is cut off after 4 bytes: get the file again");
  EXPECT_EQ(faults("PK\x03\x04...", {field("a")}), "F: is a zip archive or a workbook (.xlsx): save the table as CSV");
}

TEST_F(Csv, TellsTextThatIsNotUtf8) {
  EXPECT_EQ(faults("a,b\n1,M\xFCller\n", {field("a")}), "F:2:4: this is no UTF-8: save the file as UTF-8");
  EXPECT_EQ(faults(std::string("\xFF\xFE"
                               "a\0\n\0",
                               6),
                   {field("a")}),
            "F:1:1: the text is UTF-16: save it as UTF-8");
  for (const char* const wrong :
       {"\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80", "\xF0\x80\x80\x80", "\xE0\x9F\x80"}) {
    EXPECT_TRUE(faults(std::string("a\n") + wrong + "\n", {field("a", "text")}).starts_with("F:2:1: this is no UTF-8"));
  }
  const std::string right = "é€𝄞\xED\x9F\xBF\xF4\x8F\xBF\xBF";
  EXPECT_EQ(texts(*load("t\n" + right + "\n", {field("t", "text")}), "t"), std::vector<std::string>{right});
}

TEST_F(Csv, TellsAllFaultsAtOnceUpToTwenty) {
  EXPECT_EQ(faults("a,b\nx,\n1\n2,3\n4,\"5\n", {field("a"), field("b")}),
            "F:2:1: column \"a\": \"x\" is no number; a column of texts needs \"type\": \"text\"\n"
            "F:2:3: column \"b\" is empty: fill it in, or drop such rows with \"missing\": \"skip\"\n"
            "F:3:1: the row has 1 cell, but the header has 2\n"
            "F:5:3: this quote is never closed");
  std::string many = "a\n";
  for (int i = 0; i < 100; ++i) many += "x\n";
  const std::string told = faults(many, {field("a")});
  EXPECT_NE(told.find("F:21:1: "), std::string::npos);
  EXPECT_EQ(told.find("F:22:1: "), std::string::npos);
  EXPECT_TRUE(told.ends_with("\nF: the rest is not looked at after 20 errors")) << told;
}

TEST_F(Csv, RefusesFilesWithoutRows) {
  for (const char* const text : {"", "\n", "\xEF\xBB\xBF\r\n"}) EXPECT_EQ(faults(text, {field("a")}), "F: is empty");
  EXPECT_EQ(faults("a,b\n", {field("a")}), "F: has a header, but no rows");
  expect_error(refused("csv", {{"path", path_ + "x"}, {"fields", {field("a")}}}), ErrorCode::kData, "/path",
               {path_ + "x", "No such file"});
}

TEST_F(Csv, FingerprintFollowsTheValuesInUse) {
  const Json fields{field("a"), field("t", "text")};
  const std::string print = load("a,t,u\n1,x,1\n2,yz,1\n", fields)->fingerprint();
  EXPECT_EQ(load("u,t,a\r\n3,\"x\",1.0\r\n4,yz,2e0\r\n", fields)->fingerprint(), print);
  for (const char* const other : {"a,t\n1,x\n3,yz\n", "a,t\n1,xy\n2,z\n", "a,t\n1,x\n", "a,t\n2,yz\n1,x\n"}) {
    EXPECT_NE(load(other, fields)->fingerprint(), print) << other;
  }
  EXPECT_NE(load("a,t\n1,x\n2,yz\n", {field("a", "integer"), field("t", "text")})->fingerprint(), print);
}

TEST_F(Csv, RefusesParametersThatContradictThemselves) {
  const auto refuses = [&](const Json& json, const std::string& pointer) {
    const Error error = error_of([&] { (void)made("csv", json); });
    EXPECT_EQ(error.code(), ErrorCode::kConfig) << json;
    EXPECT_EQ(error.pointer(), pointer) << error.what();
  };
  for (const char* const delimiter : {"", ",,", "\"", "\n", "\r", "ö"}) {
    refuses(params({field("a")}, {{"delimiter", delimiter}}), "/delimiter");
  }
  refuses(params({field("a"), field("a", "text")}), "/fields/1/name");
  refuses(params({{{"name", "a"}, {"column", "a"}, {"columns", {"b"}}}}), "/fields/0/columns");
  refuses(params({{{"name", "a"}, {"type", "text"}, {"columns", {"b"}}}}), "/fields/0/columns");
  refuses(params({{{"name", "a"}, {"type", "date"}}}), "/fields/0/type");
  refuses(params(Json::array()), "/fields");
}

TEST_F(Csv, ReadsNumbersWhateverTheLocale) {
  const char* const before = std::setlocale(LC_ALL, nullptr);
  const std::string kept = before == nullptr ? "C" : before;
  for (const char* const locale : {"de_DE.UTF-8", "fr_FR.UTF-8", "C"}) {
    if (std::setlocale(LC_ALL, locale) == nullptr) continue;  // not every machine has them
    EXPECT_EQ(column<float>(*load("a\n1.5\n", {field("a")}), "a"), std::vector<float>{1.5F}) << locale;
  }
  std::setlocale(LC_ALL, kept.c_str());
}

/// Whatever becomes of the bytes of a good file: values or an error of the data.
TEST_F(Csv, SurvivesDamagedText) {
  std::mt19937_64 random(11);
  const std::string good = "a,b\n1,x\n2.5,\"y, \"\"z\"\"\"\r\n,\n-3e1,é\n";
  const std::string letters = "a1,.\"\n\r\xC3\xA9 -e;?";
  int fine = 0;
  int faulty = 0;
  for (int round = 0; round < 600; ++round) {
    std::string text = good;
    for (uint64_t times = 1 + random() % 3; times > 0; --times) {
      const std::size_t at = random() % text.size();
      const char letter = letters[random() % letters.size()];
      switch (random() % 3) {
        case 0: text[at] = letter; break;
        case 1: text.insert(at, 1, letter); break;
        default: text.erase(at, 1 + random() % 4);
      }
    }
    put(path_, text);
    const Json json = params({field("a"), field("b", "text")}, {{"missing", "skip"}});
    const Error error = error_of([&] { fine += opened("csv", json)->size() > 0 ? 1 : 0; });
    if (error.code() == ErrorCode::kData) ++faulty;
  }
  EXPECT_EQ(fine + faulty, 600);
  EXPECT_GT(fine, 50);
  EXPECT_GT(faulty, 50);
}

}  // namespace
}  // namespace tenon::test
