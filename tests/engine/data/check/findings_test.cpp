// What is told of what was measured: each fault by its code and words, and nothing of sound data.
#include <engine/data/check/findings.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tenon::engine {
namespace {

using core::Severity;

DataField classes_of(const char* name, const std::vector<int64_t>& counts) {
  DataField field;
  field.field = {name, Dtype::kInt64, {}};
  field.per = DataField::Per::kElement;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) field.classes.push_back({static_cast<int64_t>(i), "", counts[i], 10 * static_cast<int64_t>(i)});
  }
  return field;
}

DataField numbers_of(const char* name, std::vector<DataColumn> columns) {
  DataField field;
  field.field = {name, Dtype::kFloat32, {}};
  if (columns.size() > 1 || !columns.front().name.empty()) {
    field.field.shape.emplace_back(static_cast<int64_t>(columns.size()));
  }
  field.per = DataField::Per::kElement;
  field.columns = std::move(columns);
  return field;
}

DataColumn column(const char* name, double mean, double deviation, double minimum, double maximum) {
  return {name, 100, mean, deviation, minimum, maximum, 0, -1};
}

DataTarget class_target(std::optional<int64_t> classes = 3) {
  return {.field = "label", .node = "loss", .classes = classes, .model = "net", .ignored = {}, .numbers_classes = true};
}

DataPart part_of(const char* path, const char* dataset, DataField label) {
  DataPart part;
  part.path = path;
  part.dataset = dataset;
  part.component = "dataset:csv";
  part.size = 100;
  part.read = 100;
  part.stored.push_back(numbers_of("x", {column("a", 0, 1, -2, 2), column("b", 5, 1, 3, 9)}));
  part.seen = part.stored;
  part.seen.push_back(std::move(label));
  part.targets.push_back(class_target());
  return part;
}

/// Sound: three classes in training, validation and test.
DataReport sound() {
  DataReport report;
  report.parts.push_back(part_of("fit", "train_set", classes_of("label", {30, 40, 30})));
  report.parts.push_back(part_of("validate", "val_set", classes_of("label", {10, 10, 9})));
  report.parts.push_back(part_of("test", "test_set", classes_of("label", {10, 10, 9})));
  return report;
}

/// The only finding.
DataFinding only(const DataReport& report) {
  const std::vector<DataFinding> findings = judge(report);
  EXPECT_EQ(findings.size(), 1U);
  for (const DataFinding& finding : findings) SCOPED_TRACE(finding.code + ": " + finding.message);
  return findings.empty() ? DataFinding() : findings.front();
}

void expect_finding(const DataReport& report, Severity severity, const std::string& code, const std::string& path,
                    const std::vector<std::string>& words) {
  const DataFinding finding = only(report);
  EXPECT_EQ(finding.severity, severity);
  EXPECT_EQ(finding.code, code);
  ASSERT_FALSE(finding.paths.empty());
  EXPECT_EQ(finding.paths.front(), path);
  for (const std::string& word : words) {
    EXPECT_NE(finding.message.find(word), std::string::npos) << word << " in: " << finding.message;
  }
}

TEST(Findings, OfSoundDataThereAreNone) { EXPECT_TRUE(judge(sound()).empty()); }

TEST(Findings, SamplesThatCannotBeReadAreErrorsAtTheNodeAtFault) {
  DataReport report = sound();
  report.parts[1].failures = {{17, "crop", "too small"}, {20, "crop", "too small"}};
  expect_finding(report, Severity::kError, "unreadable-sample", "validate", {"2 of 100 samples", "index 17"});
  EXPECT_EQ(only(report).node, "crop");
}

TEST(Findings, ALabelBeyondTheModelsClassesIsAnErrorWithAnExample) {
  DataReport report = sound();
  report.parts[0].seen[1] = classes_of("label", {30, 40, 30, 0, 2});
  expect_finding(report, Severity::kError, "label-range", "fit",
                 {"2 samples", "\"net\", which has 3 (0 to 2)", "sample 40 of \"train_set\" with 4"});
  report.parts[0].targets[0].ignored = 4;
  EXPECT_TRUE(judge(report).empty());
}

TEST(Findings, ANegativeLabelIsAnErrorUnlessItIsTheIgnoredOne) {
  DataReport report = sound();
  report.parts[2].seen[1].classes.insert(report.parts[2].seen[1].classes.begin(), DataClass{-100, "", 1, 3});
  expect_finding(report, Severity::kError, "label-range", "test", {"1 sample", "sample 3", "-100"});
  report.parts[2].targets[0].ignored = -100;
  EXPECT_TRUE(judge(report).empty());
}

TEST(Findings, WhereTheGraphDoesNotTellTheClassesNoLabelIsOutOfRange) {
  DataReport report = sound();
  for (DataPart& part : report.parts) {
    part.targets[0].classes.reset();
    part.seen[1] = classes_of("label", {10, 10, 10, 10});
  }
  EXPECT_TRUE(judge(report).empty());
}

TEST(Findings, AClassThatAPartLacksIsNamedThere) {
  DataReport report = sound();
  report.parts[1].seen[1] = classes_of("label", {10, 0, 10});
  report.parts[0].seen[1].classes[1].name = "heron";
  expect_finding(report, Severity::kWarning, "missing-class", "validate", {"\"val_set\"", "1 (heron)"});
}

TEST(Findings, AClassOfTheModelThatNoPartHasIsMissingInAll) {
  DataReport report = sound();
  for (DataPart& part : report.parts) part.targets[0].classes = 4;
  const std::vector<DataFinding> findings = judge(report);
  EXPECT_EQ(std::count_if(findings.begin(), findings.end(),
                          [](const DataFinding& finding) { return finding.code == "missing-class"; }),
            3);
}

TEST(Findings, ImbalanceIsToldOfTrainingAlone) {
  DataReport report = sound();
  report.parts[1].seen[1] = classes_of("label", {1, 90, 9});
  EXPECT_TRUE(judge(report).empty());
  report.parts[0].seen[1] = classes_of("label", {4, 80, 16});
  expect_finding(report, Severity::kWarning, "imbalance", "fit", {"class 1 has 80 samples", "20 times", "class 0"});
}

TEST(Findings, OneClassForAllSamplesIsToldOnce) {
  DataReport report;
  report.parts.push_back(part_of("fit", "train_set", classes_of("label", {0, 100, 0})));
  report.parts[0].targets[0].classes.reset();
  report.parts[0].stored.push_back(numbers_of("label", {column("", 1, 0, 1, 1)}));
  expect_finding(report, Severity::kWarning, "one-class", "fit", {"class 1"});
}

TEST(Findings, ConstantColumnsOfTrainingAreNamed) {
  DataReport report = sound();
  report.parts[1].stored[0].columns[0] = column("a", 7, 0, 7, 7);  // one part of a small data set may well be so
  EXPECT_TRUE(judge(report).empty());
  report.parts[0].stored[0].columns[1] = column("b", 7, 0, 7, 7);
  expect_finding(report, Severity::kWarning, "constant-column", "fit", {"field \"x\", column b", "is 7"});
}

TEST(Findings, ValuesThatAreNotFiniteAreNamedByColumnAndSample) {
  DataReport report = sound();
  report.parts[2].stored[0].columns[1].not_finite = 3;
  report.parts[2].stored[0].columns[1].first_not_finite = 12;
  expect_finding(report, Severity::kWarning, "not-finite", "test", {"column b", "3 values", "sample 12"});
}

TEST(Findings, TargetsFarFromOneAreAdvisedToBeStandardized) {
  DataReport report = sound();
  report.parts[0].targets.push_back(
      {.field = "price", .node = "error", .classes = {}, .model = "", .ignored = {}, .numbers_classes = false});
  report.parts[0].seen.push_back(numbers_of("price", {column("", 210000, 80000, 1000, 900000)}));
  expect_finding(report, Severity::kWarning, "target-scale", "fit", {"2.1e+05", "8e+04", "transform:standardize"});
  for (const DataColumn& fine : {column("", 0, 1, -3, 3), column("", 0.01, 0.1, 0, 1), column("", 2, 0, 2, 2)}) {
    report.parts[0].seen.back() = numbers_of("price", {fine});
    EXPECT_TRUE(judge(report).empty());
  }
}

TEST(Findings, SizesThatDoNotGoIntoOneBatchAreAWarning) {
  DataReport report = sound();
  DataField image;
  image.field = {"image", Dtype::kUint8, {"H", "W", 3}};
  image.sizes = DataSizes{{10, 20, 3}, {40, 50, 3}, {10, 20, 3}, 5, 6, 90, 4};
  report.parts[0].seen.push_back(image);
  EXPECT_TRUE(judge(report).empty());
  report.parts[0].unbatchable = {"image"};
  expect_finding(report, Severity::kWarning, "ragged-field", "fit",
                 {"4 sizes", "10 x 20 x 3 (sample 5)", "40 x 50 x 3"});
}

TEST(Findings, SamplesOfTrainingInTheTestAreAWarningThoseWithinAPartANote) {
  DataReport report = sound();
  report.duplicates.push_back({"test", "fit", 2, {{3, 90}, {4, 91}}});
  expect_finding(report, Severity::kWarning, "leaked-samples", "test",
                 {"2 samples", "\"train_set\"", "3 = 90, 4 = 91"});
  EXPECT_EQ(only(report).paths, (std::vector<std::string>{"test", "fit"}));
  report.duplicates = {{"fit", "fit", 1, {{8, 2}}}};
  expect_finding(report, Severity::kNote, "repeated-samples", "fit", {"8 = 2"});
}

TEST(Findings, APartThatReadsTheTrainingDataIsToldAsThat) {
  DataReport report = sound();
  report.parts[1].dataset = "train_set";
  report.duplicates.push_back({"validate", "fit", 100, {{0, 0}}});
  expect_finding(report, Severity::kWarning, "same-data", "validate", {"\"train_set\""});
}

TEST(Findings, AnEmptyDatasetIsAnError) {
  DataReport report;
  report.parts.push_back(part_of("fit", "train_set", classes_of("label", {})));
  report.parts[0].size = report.parts[0].read = 0;
  const std::vector<DataFinding> findings = judge(report);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings.front().code, "no-samples");
}

TEST(Findings, ErrorsComeBeforeWarningsAndNotes) {
  DataReport report = sound();
  report.duplicates = {{"fit", "fit", 1, {{8, 2}}}, {"test", "fit", 1, {{3, 90}}}};
  report.parts[2].failures = {{1, "test_set", "cut off"}};
  const std::vector<DataFinding> findings = judge(report);
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].severity, Severity::kError);
  EXPECT_EQ(findings[1].severity, Severity::kWarning);
  EXPECT_EQ(findings[2].severity, Severity::kNote);
}

TEST(Findings, SamplesThatCannotBeReadAreAnErrorOnlyAsFarAsTheLoaderDoesNotTolerateThem) {
  const auto unreadable = [](std::optional<int64_t> tolerated, std::size_t failures, int64_t read = 100) {
    DataReport report = sound();
    DataPart& part = report.parts.front();
    part.tolerated = tolerated;
    part.read = read;
    part.failures.resize(failures);
    const std::vector<DataFinding> all = judge(report);
    const auto found =
        std::find_if(all.begin(), all.end(), [](const DataFinding& each) { return each.code == "unreadable-sample"; });
    if (found == all.end()) {
      ADD_FAILURE() << "not found";
      return DataFinding{};
    }
    return *found;
  };
  EXPECT_EQ(unreadable({}, 3).severity, Severity::kError);
  EXPECT_EQ(unreadable(3, 3).severity, Severity::kWarning);
  EXPECT_NE(unreadable(3, 3).message.find("\"bad_sample\" of the loader allows 3 in an epoch"), std::string::npos);
  EXPECT_EQ(unreadable(2, 3).severity, Severity::kError);
  EXPECT_NE(unreadable(2, 3).message.find("more than the 2 that"), std::string::npos);
  EXPECT_EQ(unreadable(5, 3, 50).severity, Severity::kError) << "3 of 50 are 6 of 100";
  EXPECT_EQ(unreadable(6, 3, 50).severity, Severity::kWarning);
}

}  // namespace
}  // namespace tenon::engine
