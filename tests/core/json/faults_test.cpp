// Runs the data-driven cases of faults/: a text with faults, and beside it all that must be said and understood.
//
// NAME.json or NAME.jsonc is the text, NAME.expect says, one a line:
//   CODE LINE:COL | TEXT | …   a finding, in the order of their places; each TEXT stands in what people read, and
//                              "=> TEXT" is the text proposed for the place
//   /POINTER JSON              a value that is understood all the same
//   as FILE                    all that is understood is what FILE says
//   cut                        the text ends too early, and nothing of it is used
// A line that starts with '#' or is empty says nothing. All findings must be listed.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/json/pointer.hpp>
#include <core/json/reader.hpp>
#include <core/text/expected_texts.hpp>
#include <core/text/render.hpp>

namespace tenon::core {
namespace {

namespace fs = std::filesystem;

fs::path folder() { return fs::path(TENON_SOURCE_DIR) / "tests/core/json/faults"; }

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Expectation {
  std::vector<std::string> heads;
  std::vector<std::vector<std::string>> texts;
  std::vector<std::pair<std::string, Json>> values;
  std::string as;
  bool cut = false;
};

Expectation read_expectation(const fs::path& path) {
  Expectation expected;
  std::istringstream lines(read_text(path));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with("as ")) {
      expected.as = line.substr(3);
    } else if (line == "cut") {
      expected.cut = true;
    } else if (line.front() == '/') {
      const std::size_t blank = line.find(' ');
      expected.values.emplace_back(line.substr(0, blank), Json::parse(line.substr(blank + 1)));
    } else {
      std::size_t begin = std::min(line.find(" | "), line.size());
      expected.heads.push_back(line.substr(0, begin));
      expected.texts.emplace_back();
      while (begin < line.size()) {
        const std::size_t end = std::min(line.find(" | ", begin + 3), line.size());
        expected.texts.back().push_back(line.substr(begin + 3, end - begin - 3));
        begin = end;
      }
    }
  }
  return expected;
}

class Faults : public ::testing::TestWithParam<fs::path> {};

TEST_P(Faults, AreToldEachAtItsPlaceAndTheRestIsUnderstood) {
  const Expectation expected = read_expectation(fs::path(GetParam()).replace_extension(".expect"));
  const std::string name = GetParam().filename().string();
  Diagnostics found;
  const Document document =
      read_json(std::make_shared<Source>(name, read_text(GetParam())), found, {.comments = comments_for(name)});
  found.sort();

  std::vector<std::string> heads;
  for (const Diagnostic& each : found.all()) {
    const Position at = each.span.position();
    heads.push_back(fmt::format("{} {}:{}", each.code, at.line, at.column));
  }
  ASSERT_EQ(heads, expected.heads) << render_text(found);
  for (std::size_t i = 0; i < heads.size(); ++i) testing::check_texts(found.all()[i], expected.texts[i]);

  EXPECT_EQ(document.complete, !expected.cut);
  if (!expected.as.empty()) {
    EXPECT_EQ(document.value.dump(1), Json::parse(read_text(folder() / expected.as)).dump(1));
  }
  for (const auto& [pointer, value] : expected.values) {
    const Json* const understood = find_value(document.value, pointer);
    ASSERT_NE(understood, nullptr) << pointer << " in\n" << document.value.dump(1);
    EXPECT_EQ(understood->dump(), value.dump()) << pointer;
  }
}

std::vector<fs::path> cases() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder())) {
    if (entry.path().extension() != ".expect") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string case_name(const ::testing::TestParamInfo<fs::path>& each) {
  std::string name = each.param.filename().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, Faults, ::testing::ValuesIn(cases()), case_name);

}  // namespace
}  // namespace tenon::core
