// Runs the data-driven cases of tests/pipelines: a pipeline, and beside it what must come out.
//
// NAME.json (or NAME.jsonc) is the pipeline, NAME.expect says, one a line:
//   overlay FILE                       FILE (beside the case) is laid over it
//   set PATH=JSON                      as --set
//   exit N                             the exit code; 2 with errors and 0 without unless it is given
//   error CODE LINE:COL | TEXT | …     a finding, in the order of their places; each TEXT stands in what people read,
//   warning CODE LINE:COL | …          and "=> TEXT" is the text proposed for the place
//   /POINTER JSON                      a fact of the graph (see graph_json); "<here>" is the folder of all cases
// NAME.overlay.json and all in folders below belong to a case. A line that starts with '#' or is empty says nothing. All findings must be listed. Cases in good/ give a graph, those
// in bad/ none; what a good one resolves to is a pipeline that gives the same graph.
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/graph/fixture.hpp>
#include <core/json/pointer.hpp>
#include <core/text/expected_texts.hpp>

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

/// With "<here>" for the folder of all cases.
Json facts_of(const Graph& graph) {
  std::string text = graph_json(graph).dump();
  const std::string here = folder().lexically_normal().string();
  for (std::size_t at = text.find(here); at != std::string::npos; at = text.find(here, at)) {
    text.replace(at, here.size(), "<here>");
  }
  return Json::parse(text);
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
  const Json facts = facts_of(*built.graph);
  for (const auto& [pointer, value] : expected.facts) {
    const Json* const fact = find_value(facts, pointer);
    ASSERT_NE(fact, nullptr) << pointer << " is not a fact of\n" << facts.dump(2);
    EXPECT_EQ(*fact, value) << pointer;
  }
}

class GoodPipelines : public Pipelines {};

TEST_P(GoodPipelines, ResolvesToAPipelineOfTheSameGraph) {
  const Built built = build(read_expectation(GetParam()).request);
  ASSERT_TRUE(built.graph) << built.text();
  const Built again = build(built.graph->resolved.dump(2));
  ASSERT_TRUE(again.graph) << again.text();
  EXPECT_EQ(again.graph->resolved.dump(2), built.graph->resolved.dump(2));
  // Parameters keep the order in which they were written, and run.dir is counted from where it was.
  nlohmann::json before = facts_of(*built.graph);
  nlohmann::json after = facts_of(*again.graph);
  before["run"].erase("dir");
  after["run"].erase("dir");
  EXPECT_EQ(after, before) << nlohmann::json::diff(before, after).dump(2);
}

std::vector<std::filesystem::path> cases(const std::filesystem::path& below) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(below)) {
    if (entry.path().extension() == ".expect") {
      std::filesystem::path file = std::filesystem::path(entry.path()).replace_extension(".json");
      if (!std::filesystem::exists(file)) file.replace_extension(".jsonc");
      files.push_back(std::move(file));
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

INSTANTIATE_TEST_SUITE_P(Files, Pipelines, ::testing::ValuesIn(cases(folder())), case_name);
INSTANTIATE_TEST_SUITE_P(Files, GoodPipelines, ::testing::ValuesIn(cases(folder() / "good")), case_name);

TEST(PipelineCases, EachJsonHasAnExpectation) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder())) {
    const bool of_a_case = entry.path().stem().has_extension() || entry.path().parent_path().parent_path() != folder();
    const bool is_pipeline = entry.path().extension() == ".json" || entry.path().extension() == ".jsonc";
    if (!is_pipeline || of_a_case) continue;
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(entry.path()).replace_extension(".expect")))
        << entry.path();
  }
}

}  // namespace
}  // namespace tenon::core::testing
