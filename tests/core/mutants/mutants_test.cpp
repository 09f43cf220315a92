// Every shipped pipeline, spoilt in 20,000 ways: never a crash, never a start, and an error at the right place.
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <core/mutants/operators.hpp>
#include <rounds.hpp>

namespace tenon::core::testing {
namespace {

constexpr std::size_t kMutants = test::rounds(20'000);
constexpr unsigned kSeed = 5;
constexpr std::size_t kMostShown = 12;

struct Tally {
  std::size_t made = 0;
  std::size_t refused = 0;
  std::size_t same = 0;   ///< The same pipeline after all.
  std::size_t legal = 0;  ///< Another legal value where the operator may give one.
  std::size_t alone = 0;  ///< Refused with errors at the right place alone.
};

enum class Verdict { kFine, kStarts, kMisplaced, kRefused };

std::string describe(const Base& base, const Mutant& mutant, const Built& built, std::string_view verdict) {
  return fmt::format("{} of {}: {} (an error is expected on line {})\n{}", verdict, base.name(), mutant.what,
                     fmt::join(mutant.lines, ", "), built.text());
}

/// Whether an error stands where it may: in the text itself, on one of the lines. A text that ends too early is wrong at
/// its end and where it opened what it does not close.
bool is_placed(const Base& base, const Mutant& mutant, const Diagnostic& each) {
  const auto holds = [&](const Span& span) {
    return span && span.source->path() == base.path().string() &&
           std::find(mutant.lines.begin(), mutant.lines.end(), span.position().line) != mutant.lines.end();
  };
  const bool opened = each.code == "truncated" && !each.secondary.empty() && holds(each.secondary.front().span);
  return each.severity == Severity::kError && (holds(each.span) || opened);
}

Verdict judge(const Base& base, const Mutant& mutant, const Built& built, Tally& tally) {
  if (!built.diagnostics.has_errors()) {
    const bool same = built.graph && meaning(built.graph->resolved) == base.resolved();
    tally.same += same ? 1 : 0;
    if (same) return Verdict::kFine;
    if (mutant.fate != Fate::kLegalValue) return Verdict::kStarts;
    ++tally.legal;
    return Verdict::kFine;
  }
  if (built.graph) return Verdict::kStarts;
  if (mutant.fate == Fate::kSame) return Verdict::kRefused;
  ++tally.refused;
  const std::vector<Diagnostic>& all = built.diagnostics.all();
  const auto placed = static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](const Diagnostic& each) { return is_placed(base, mutant, each); }));
  tally.alone += placed == built.diagnostics.errors() ? 1 : 0;
  return placed > 0 ? Verdict::kFine : Verdict::kMisplaced;
}

std::vector<NamedOperator> all_operators() {
  std::vector<NamedOperator> all = text_operators();
  const std::vector<NamedOperator> more = node_operators();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(Mutants, ComeFromTheDemoAndOtherPipelines) {
  std::vector<std::string> names;
  for (const Base& base : bases()) names.push_back(base.name());
  EXPECT_NE(std::find(names.begin(), names.end(), "digits.json"), names.end());
  EXPECT_GE(names.size(), 10U);
}

TEST(Mutants, AreMisplacedWhereNoErrorStandsOnTheirLine) {
  const Base& base = bases().front();
  Mutant mutant;
  mutant.text = replaced(base.text(), "\"format\": 1", "\"format\": true");
  const std::size_t right = Source("", mutant.text).line_of(mutant.text.find("true"));
  Tally tally;
  for (const std::size_t line : {right - 1, right, right + 1}) {
    mutant.lines = {line};
    const Verdict verdict = judge(base, mutant, base.build(mutant.text), tally);
    EXPECT_EQ(verdict, line == right ? Verdict::kFine : Verdict::kMisplaced) << line;
  }
}

TEST(Mutants, NeverStartAndAreToldAtTheirPlace) {
  const std::vector<NamedOperator> operators = all_operators();
  std::vector<Tally> tallies(operators.size());
  std::map<std::string, std::vector<std::string>> failures;
  Random random(kSeed);
  for (std::size_t made = 0, tries = 0; made < kMutants && tries < 50 * kMutants; ++tries) {
    const std::size_t which = made % operators.size();
    Base& base = bases()[draw(bases().size(), random)];
    const std::optional<Mutant> mutant = operators[which].make(base, random);
    if (!mutant) continue;
    ++made;
    ++tallies[which].made;
    const Built built = base.build(mutant->text);
    const Verdict verdict = judge(base, *mutant, built, tallies[which]);
    if (verdict == Verdict::kFine) continue;
    const char* const text = verdict == Verdict::kStarts      ? "starts"
                             : verdict == Verdict::kMisplaced ? "told at the wrong place"
                                                              : "refused although it is the same";
    failures[std::string(operators[which].name)].push_back(describe(base, *mutant, built, text));
  }
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const Tally& tally = tallies[i];
    std::cout << fmt::format(
        "figure: {}: {} mutants, {} refused ({} with errors at the place alone), {} the same pipeline, {} another "
        "legal "
        "value\n",
        operators[i].name, tally.made, tally.refused, tally.alone, tally.same, tally.legal);
    EXPECT_GT(tally.made, kMutants / operators.size() / 2) << operators[i].name;
    // A structural fault may have consequences that only a person sees through.
    EXPECT_GE(tally.alone * 100, tally.refused * 95) << operators[i].name;
  }
  for (const auto& [name, texts] : failures) {
    ADD_FAILURE() << name << ": " << texts.size() << " failures, such as\n"
                  << fmt::format("{}", fmt::join(texts.begin(),
                                                 texts.begin() +
                                                     static_cast<std::ptrdiff_t>(std::min(texts.size(), kMostShown)),
                                                 "\n"));
  }
}

}  // namespace
}  // namespace tenon::core::testing
