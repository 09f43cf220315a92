// The demo, and a pipeline of what it does not say, with one letter lost, for every letter of every key, enum, reference
// and component name: each is an error at the exact place with the original proposed, and two of them are told together.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <core/graph/fixture.hpp>
#include <core/json/pointer.hpp>
#include <core/json/reader.hpp>
#include <core/units.hpp>

namespace tenon::core::testing {
namespace {

/// A key or a text of the pipeline.
struct Token {
  std::string pointer;
  std::size_t begin = 0;  ///< Of the opening quote.
  std::size_t end = 0;
  bool is_key = false;
};

/// One letter lost.
struct Loss {
  Token token;
  std::size_t at = 0;  ///< Offset of the letter in the text.
};

/// Names that the file introduces, and texts that are no names at all.
bool is_free(const std::string& pointer, bool is_key, const std::string& text) {
  const std::string parent(parent_pointer(pointer));
  if (is_key) {
    return parent == "/nodes" || parent == "/vars" || pointer == "/validate/clean" || pointer == "/validate/again";
  }
  for (const char* const key : {"$schema", "load", "match", "name"}) {
    if (last_segment(pointer) == key) return true;
  }
  constexpr UnitKind kinds[] = {UnitKind::kSpan, UnitKind::kTime, UnitKind::kBytes};
  return std::holds_alternative<Quantity>(parse_quantity(text, kinds));
}

void collect(const Document& document, const Json& value, const std::string& pointer, std::vector<Token>& tokens) {
  const Place* const place = document.places.find(pointer);
  ASSERT_NE(place, nullptr) << pointer;
  if (place->key && !is_free(pointer, true, "")) tokens.push_back({pointer, place->key.begin, place->key.end, true});
  if (value.is_string() && !is_free(pointer, false, value.get<std::string>())) {
    tokens.push_back({pointer, place->value.begin, place->value.end, false});
  }
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) collect(document, member, child_pointer(pointer, key), tokens);
  }
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) collect(document, value[i], child_pointer(pointer, i), tokens);
  }
}

class LostLetter : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Diagnostics diagnostics;
    const Document document = read_json(std::make_shared<Source>("digits.json", text_), diagnostics);
    ASSERT_TRUE(diagnostics.empty());
    collect(document, document.value, "", tokens_);
    for (const Token& token : tokens_) {
      for (std::size_t at = token.begin; at < token.end; ++at) {
        if (std::isalnum(static_cast<unsigned char>(text_[at])) != 0) losses_.push_back({token, at});
      }
    }
  }

  [[nodiscard]] std::string original(const Loss& loss) const {
    return text_.substr(loss.token.begin, loss.token.end - loss.token.begin);
  }

  [[nodiscard]] std::string describe(const Loss& loss) const {
    std::string lost = original(loss);
    lost.erase(loss.at - loss.token.begin, 1);
    return fmt::format("{} {} as {}", loss.token.pointer, loss.token.is_key ? "key" : "value", lost);
  }

  /// The pipeline without these letters.
  [[nodiscard]] std::string without(std::vector<std::size_t> letters) const {
    std::sort(letters.rbegin(), letters.rend());
    std::string text = text_;
    for (const std::size_t at : letters) text.erase(at, 1);
    return text;
  }

  /// An error stands at the token, `shift` bytes before where the demo has it, and what it proposes makes `text` into
  /// `mended`. A variable's reference that is none is proposed in words.
  [[nodiscard]] bool is_told(const Built& built, const std::string& text, const Loss& loss, const std::string& mended,
                             std::size_t shift = 0) const {
    const std::string word = original(loss).substr(1, original(loss).size() - 2);
    for (const Diagnostic& each : built.diagnostics.all()) {
      if (each.severity != Severity::kError || each.span.begin != loss.token.begin - shift) continue;
      if (each.code == "bad-reference" && each.label == fmt::format("did you mean {}?", word)) return true;
      if (!each.suggestion) continue;
      const Span& span = each.suggestion->span;
      if (text.substr(0, span.begin) + each.suggestion->replacement + text.substr(span.end) == mended) return true;
    }
    return false;
  }

  std::string text_ = GetParam() == "demo" ? demo_text() : language_text();
  std::vector<Token> tokens_;
  std::vector<Loss> losses_;
};

TEST_P(LostLetter, CoversThePipeline) {
  EXPECT_GT(tokens_.size(), 150U);
  EXPECT_GT(losses_.size(), 800U);
}

TEST_P(LostLetter, IsOneErrorAtItsPlaceWithTheOriginalProposed) {
  std::vector<std::string> failures;
  for (const Loss& loss : losses_) {
    const std::string text = without({loss.at});
    const Built built = build(text);
    const bool one = built.diagnostics.errors() == 1 && built.diagnostics.exit_code() == 2 && !built.graph;
    if (one && is_told(built, text, loss, text_)) continue;
    failures.push_back(fmt::format("{}\n{}", describe(loss), built.text()));
  }
  EXPECT_TRUE(failures.empty()) << failures.size() << " of " << losses_.size() << ":\n"
                                << fmt::format("{}", fmt::join(failures, "\n"));
}

/// Where a mistake may hide another: both stand in the same entry of a section, or one of them names the section.
std::string entry_of(const Token& token) {
  const std::vector<std::string> segments = split_pointer(token.pointer);
  if (segments.size() < 2) return "";
  return segments[0] == "nodes" ? segments[0] + "/" + segments[1] : segments[0];
}

/// A stream with a broken link offers fields that cannot be known.
bool breaks_the_stream(const Token& token) {
  return token.pointer.starts_with("/nodes/train") || token.pointer.starts_with("/nodes/shift");
}

/// What is not known of a component says nothing of the ports and fields that others, among them its calls, wire.
bool hides_wires(const Token& token, const Token& other) {
  const bool of_component = token.pointer.ends_with("/use") || token.pointer.ends_with("/call");
  return of_component && other.pointer.starts_with("/nodes/") && other.pointer.find("/in") != std::string::npos;
}

TEST_P(LostLetter, IsToldTogetherWithAnother) {
  std::vector<std::string> failures;
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < losses_.size(); ++i) {
    const Loss* first = &losses_[i];
    const Loss* second = &losses_[(i * 7919 + 4001) % losses_.size()];
    if (first->at > second->at) std::swap(first, second);
    const std::string here = entry_of(first->token);
    const std::string there = entry_of(second->token);
    if (here == there || here.empty() || there.empty()) continue;
    if (breaks_the_stream(first->token) && original(*second).starts_with("\"batch.")) continue;
    const bool calls = GetParam() == "language";
    if (calls && (hides_wires(first->token, second->token) || hides_wires(second->token, first->token))) continue;
    ++pairs;
    const std::string text = without({first->at, second->at});
    const Built built = build(text);
    if (built.diagnostics.exit_code() == 2 && is_told(built, text, *first, without({second->at})) &&
        is_told(built, text, *second, without({first->at}), 1)) {
      continue;
    }
    failures.push_back(fmt::format("{} and {}\n{}", describe(*first), describe(*second), built.text()));
  }
  EXPECT_GT(pairs, 400U);
  EXPECT_TRUE(failures.empty()) << failures.size() << " of " << pairs << ":\n"
                                << fmt::format("{}", fmt::join(failures, "\n"));
}

INSTANTIATE_TEST_SUITE_P(Texts, LostLetter, ::testing::Values("demo", "language"),
                         [](const ::testing::TestParamInfo<std::string>& text) { return text.param; });

}  // namespace
}  // namespace tenon::core::testing
