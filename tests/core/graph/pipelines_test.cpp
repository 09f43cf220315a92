// Runs the data-driven cases of tests/pipelines: a pipeline, and beside it what must come out.
//
// NAME.json is the pipeline, NAME.expect says, one a line:
//   overlay FILE                       FILE (beside the case) is laid over it
//   set PATH=JSON                      as --set
//   exit N                             the exit code; 2 with errors and 0 without unless it is given
//   error CODE LINE:COL | TEXT | …     a finding, in the order of their places; each TEXT stands in what people read,
//   warning CODE LINE:COL | …          and "=> TEXT" is the text proposed for the place
//   /POINTER JSON                      a fact of the graph (see graph_json)
// A line that starts with '#' or is empty says nothing. All findings must be listed. Cases in good/ give a graph, those
// in bad/ none.
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/graph/fixture.hpp>
#include <core/json/pointer.hpp>
#include <core/text/render.hpp>

namespace tenon::core::testing {
namespace {

std::filesystem::path folder() { return std::filesystem::path(TENON_SOURCE_DIR) / "tests/pipelines"; }

struct Finding {
  std::string head;  ///< "error unknown-node 12:20"
  std::vector<std::string> texts;
};

struct Expectation {
  ResolveRequest request;
  std::optional<int> exit_code;
  std::vector<Finding> findings;
  std::vector<std::pair<std::string, Json>> facts;
};

std::vector<std::string> split_clauses(const std::string& line) {
  std::vector<std::string> clauses;
  std::size_t begin = 0;
  while (begin <= line.size()) {
    const std::size_t end = std::min(line.find(" | ", begin), line.size());
    clauses.push_back(line.substr(begin, end - begin));
    begin = end + 3;
  }
  return clauses;
}

Expectation read_expectation(const std::filesystem::path& pipeline) {
  Expectation expected;
  expected.request.pipeline = pipeline;
  std::istringstream lines(read_text(std::filesystem::path(pipeline).replace_extension(".expect")));
  for (std::string line; std::getline(lines, line);) {
    const std::string word = line.substr(0, line.find(' '));
    const std::string rest = line.substr(std::min(word.size() + 1, line.size()));
    if (line.empty() || line.front() == '#') continue;
    if (word == "overlay") {
      expected.request.overlays.push_back(pipeline.parent_path() / rest);
    } else if (word == "set") {
      expected.request.sets.push_back(rest);
    } else if (word == "exit") {
      expected.exit_code = std::stoi(rest);
    } else if (word == "error" || word == "warning") {
      std::vector<std::string> clauses = split_clauses(line);
      Finding finding{clauses.front(), {clauses.begin() + 1, clauses.end()}};
      expected.findings.push_back(std::move(finding));
    } else if (line.front() == '/') {
      expected.facts.emplace_back(word, Json::parse(rest));
    } else {
      ADD_FAILURE() << "not understood: " << line;
    }
  }
  return expected;
}

std::string head_of(const Diagnostic& diagnostic) {
  const Position at = diagnostic.span.position();
  return fmt::format("{} {} {}:{}", to_string(diagnostic.severity), diagnostic.code, at.line, at.column);
}

void check_texts(const Diagnostic& diagnostic, const std::vector<std::string>& texts) {
  const std::string shown = render_text(diagnostic);
  for (const std::string& text : texts) {
    if (text.starts_with("=> ")) {
      ASSERT_TRUE(diagnostic.suggestion) << shown;
      EXPECT_EQ(diagnostic.suggestion->replacement, text.substr(3)) << shown;
    } else {
      EXPECT_NE(shown.find(text), std::string::npos) << "missing: " << text << "\n" << shown;
    }
  }
}

class Pipelines : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(Pipelines, GivesWhatItsExpectationSays) {
  const Expectation expected = read_expectation(GetParam());
  const Built built = build(expected.request);

  std::vector<std::string> heads;
  for (const Diagnostic& each : built.diagnostics.all()) heads.push_back(head_of(each));
  std::vector<std::string> wanted;
  for (const Finding& each : expected.findings) wanted.push_back(each.head);
  ASSERT_EQ(heads, wanted) << built.text();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    check_texts(built.diagnostics.all()[i], expected.findings[i].texts);
  }

  const bool good = GetParam().parent_path().filename() == "good";
  EXPECT_EQ(built.graph.has_value(), good) << built.text();
  EXPECT_EQ(built.diagnostics.exit_code(), expected.exit_code.value_or(good ? 0 : 2));
  EXPECT_TRUE(good || expected.facts.empty()) << "a bad pipeline has no facts";
  if (!built.graph) return;
  const Json facts = graph_json(*built.graph);
  for (const auto& [pointer, value] : expected.facts) {
    const Json* const fact = find_value(facts, pointer);
    ASSERT_NE(fact, nullptr) << pointer << " is not a fact of\n" << facts.dump(2);
    EXPECT_EQ(*fact, value) << pointer;
  }
}

std::vector<std::filesystem::path> cases() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder())) {
    if (entry.path().extension() == ".expect") {
      files.push_back(std::filesystem::path(entry.path()).replace_extension(".json"));
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string case_name(const ::testing::TestParamInfo<std::filesystem::path>& info) {
  std::string name = info.param.parent_path().filename().string() + "_" + info.param.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, Pipelines, ::testing::ValuesIn(cases()), case_name);

TEST(PipelineCases, EachJsonHasAnExpectation) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder())) {
    const bool overlay = entry.path().filename().string().find(".overlay.") != std::string::npos;
    if (entry.path().extension() != ".json" || overlay) continue;
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(entry.path()).replace_extension(".expect")))
        << entry.path();
  }
}

}  // namespace
}  // namespace tenon::core::testing
