// Letters, structure, numbers, values and ends of the text.
#include <algorithm>
#include <array>
#include <cctype>
#include <variant>

#include <fmt/format.h>

#include <core/json/lookahead.hpp>
#include <core/mutants/operators.hpp>
#include <core/units.hpp>

namespace tenon::core::testing {
namespace {

constexpr std::string_view kStructure = "{}[],:\"";

bool is_quantity(const std::string& text) {
  constexpr std::array kKinds{UnitKind::kSpan, UnitKind::kTime, UnitKind::kBytes};
  return std::holds_alternative<Quantity>(parse_quantity(text, kKinds));
}

std::string unit_of(const std::string& text) {
  return text.substr(std::min(text.find_first_not_of("0123456789.eE+- "), text.size()));
}

std::string around(const std::string& text, std::size_t at) {
  const std::size_t begin = at < 30 ? 0 : at - 30;
  return text.substr(begin, 60);
}

/// The last byte before `at` that is neither blank nor within a comment.
std::size_t last_text(std::string_view text, std::size_t at) {
  std::size_t last = 0;
  for (std::size_t next = next_token(text, 0); next < at; next = next_token(text, last + 1)) {
    const std::optional<std::size_t> end = text[next] == '"' ? string_end(text, next) : std::nullopt;
    last = std::min(end.value_or(next + 1), at) - 1;
  }
  return last;
}

const Token* token_at(const Base& base, std::size_t at) {
  const auto found = std::find_if(base.tokens().begin(), base.tokens().end(),
                                  [&](const Token& token) { return token.begin <= at && at < token.end; });
  return found == base.tokens().end() ? nullptr : &*found;
}

/// Where what a token introduces is used: a node or variable, a variable's value, a field named by a parameter, a metric.
void add_uses(Mutant& mutant, const Base& base, const Token& token) {
  const std::vector<std::string> segments = split_pointer(token.pointer);
  const auto holds = [&](std::string_view key) {
    return std::find(segments.begin(), segments.end(), key) != segments.end();
  };
  std::vector<std::string> names;
  if (introduces_name(base, token) || (!token.is_key && token.is_string && (holds("with") || holds("metrics")))) {
    names.push_back(base.word(token));
  }
  if (segments.size() > 1 && segments[0] == "vars") names.push_back(segments[1]);
  for (const std::string& name : names) {
    const std::vector<std::size_t> used = base.lines_of_uses(mutant.text, name);
    mutant.lines.insert(mutant.lines.end(), used.begin(), used.end());
  }
}

/// The text that grows at its quote: by a character that is put there, or by the blank that changes place with the quote.
const Token* token_beside_quote(const Base& base, std::size_t begin, std::size_t end, const std::string& replacement) {
  if (begin == end) return begin > 0 && base.text()[begin] == '"' ? token_at(base, begin - 1) : nullptr;
  if (replacement == "\" " && base.text()[begin] == ' ') return token_at(base, begin + 2);
  return replacement == " \"" && base.text()[begin] == '"' && begin > 0 ? token_at(base, begin - 1) : nullptr;
}

/// Whether a text became the name of another node by chance: operators on references try what comes of that.
bool names_another(const Base& base, const Token& token, const std::string& word) {
  const std::string before = base.word(token);
  const std::string node = word.substr(0, word.find('.'));
  return !token.is_key && node != before.substr(0, before.find('.')) && !base.kind_of(node).empty();
}

/// What stands in the place of a text, up to a quote.
std::string word_at(const std::string& text, const Token& token) {
  return text.substr(token.begin, text.find('"', token.begin) - token.begin);
}

/// Edits of single characters: what they change is legal where it stands in a text that its place leaves open.
std::optional<Mutant> character(Base& base, std::size_t begin, std::size_t end, const std::string& replacement) {
  const Token* const token = token_at(base, begin);
  Mutant mutant = token == nullptr ? edited(base, begin, end, replacement)
                                   : respelt(base, *token,
                                             base.text().substr(token->begin, begin - token->begin) + replacement +
                                                 base.text().substr(end, token->end - std::min(token->end, end)));
  if (token != nullptr && end > token->end) mutant = edited(base, begin, end, replacement);
  if (const Token* const beside = token_beside_quote(base, begin, end, replacement)) {
    if (base.is_free(*beside, begin < beside->begin ? beside->begin : beside->end)) mutant.fate = Fate::kLegalValue;
    add_uses(mutant, base, *beside);
  }
  if (const Token* const touched = token_at(base, begin + 1)) add_uses(mutant, base, *touched);
  if (const Token* const touched = begin > 0 ? token_at(base, begin - 1) : nullptr) add_uses(mutant, base, *touched);
  mutant.what =
      fmt::format("{} for {} in {}", replacement, base.text().substr(begin, end - begin), around(base.text(), begin));
  if (mutant.text == base.text() || (token != nullptr && names_another(base, *token, word_at(mutant.text, *token)))) {
    return std::nullopt;
  }
  return mutant;
}

std::optional<Mutant> drop_letter(Base& base, Random& random) {
  const Token& token = draw_from(base.tokens(), random);
  std::string word = base.word(token);
  // Of one letter nothing would be left, which is "none" to some parameters.
  if (!token.is_string || word.size() < 2) return std::nullopt;
  word.erase(draw(word.size(), random), 1);
  if (names_another(base, token, word)) return std::nullopt;
  Mutant mutant = respelt(base, token, word);
  mutant.what = fmt::format("{} as {}", base.word(token), word);
  return mutant;
}

std::optional<Mutant> swap_neighbours(Base& base, Random& random) {
  const std::string& text = base.text();
  const std::size_t at = draw(text.size() - 1, random);
  if (text[at] == text[at + 1] || (is_blank(text[at]) && is_blank(text[at + 1]))) return std::nullopt;
  return character(base, at, at + 2, {text[at + 1], text[at]});
}

std::optional<Mutant> delete_structure(Base& base, Random& random) {
  const std::size_t at = base.text().find_first_of(kStructure, draw(base.text().size(), random));
  if (at == std::string::npos) return std::nullopt;
  return character(base, at, at + 1, "");
}

std::optional<Mutant> insert_structure(Base& base, Random& random) {
  const std::size_t at = draw(base.text().size(), random);
  return character(base, at, at, std::string(1, kStructure[draw(kStructure.size(), random)]));
}

std::optional<Mutant> replace_structure(Base& base, Random& random) {
  const std::size_t at = base.text().find_first_of(kStructure, draw(base.text().size(), random));
  if (at == std::string::npos) return std::nullopt;
  return character(base, at, at + 1, std::string(1, kStructure[draw(kStructure.size(), random)]));
}

std::optional<Mutant> cut(Base& base, Random& random) {
  const std::size_t at = draw(base.text().size(), random);
  Mutant mutant;
  mutant.text = base.text().substr(0, at);
  const std::size_t last = mutant.text.find_last_not_of(" \t\r\n");
  mutant.lines = {Source("", mutant.text).line_of(last == std::string::npos ? 0 : last)};
  mutant.fate = next_text(base.text(), at) == base.text().size() ? Fate::kSame : Fate::kError;
  mutant.what = fmt::format("cut behind {} bytes", at);
  return mutant;
}

std::optional<Mutant> change_type(Base& base, Random& random) {
  const Token& token = draw_from(base.tokens(), random);
  const Json* const value = find_value(base.value(), token.pointer);
  if (token.is_key || value == nullptr) return std::nullopt;
  static const std::array<Json, 6> kOthers{
      Json("zq"), Json(-7.5), Json(true), Json::parse("[[]]"), Json::parse(R"({"zq": 0})"), Json()};
  const Json& other = kOthers[draw(kOthers.size(), random)];
  if (other.type() == value->type() || (other.is_number() && value->is_number())) return std::nullopt;
  Token whole = token;
  whole.begin -= token.is_string ? 1 : 0;
  whole.end += token.is_string ? 1 : 0;
  Mutant mutant = respelt(base, whole, other.dump());
  // Within a text, a variable may be of any type that can be written there.
  const bool within =
      parent_pointer(token.pointer) == "/vars" &&
      base.text().find(fmt::format("${{vars.{}}}", last_segment(token.pointer))) != std::string::npos &&
      base.text().find(fmt::format("\"${{vars.{}}}\"", last_segment(token.pointer))) == std::string::npos;
  mutant.fate = within && other.is_primitive() && !other.is_null() ? Fate::kLegalValue : Fate::kError;
  mutant.what = fmt::format("{} is {}", token.pointer, other.dump());
  return mutant;
}

std::optional<Mutant> overflow(Base& base, Random& random) {
  static const std::vector<std::string> kHuge{"99999999999999999999", "-99999999999999999999", "1e999", "-1e999",
                                              "123456789012345678901234567890.5e400"};
  const Token& token = draw_from(base.tokens(), random);
  const std::string word = base.word(token);
  const std::size_t digits = word.find_first_not_of("0123456789.eE+-");
  const bool number = !token.is_string && !word.empty() && digits == std::string::npos;
  const bool quantity = token.is_string && !token.is_key && digits != 0 && digits != std::string::npos &&
                        std::isdigit(static_cast<unsigned char>(word[0])) != 0 && !base.is_free(token, token.begin);
  if (!number && !quantity) return std::nullopt;
  const std::string& huge = draw_from(kHuge, random);
  Mutant mutant = respelt(base, token, number ? huge : huge + word.substr(digits));
  mutant.fate = Fate::kError;
  mutant.what = fmt::format("{} is {}", token.pointer, huge);
  return mutant;
}

std::optional<Mutant> duplicate_key(Base& base, Random& random) {
  const Member& member = draw_from(base.members(), random);
  const std::string copy = base.text().substr(member.begin, member.end - member.begin);
  const bool apart = draw(2, random) == 0;
  Mutant mutant = edited(base, member.end, member.end, (apart ? ",\n    " : ", ") + copy);
  mutant.lines = {Source("", mutant.text).line_of(member.end + (apart ? 2 : 1))};
  mutant.what = fmt::format("{} twice", member.pointer);
  return mutant;
}

}  // namespace

std::size_t draw(std::size_t count, Random& random) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
}

bool introduces_name(const Base& base, const Token& token) {
  const std::string parent(parent_pointer(token.pointer));
  const bool validations = parent == "/validate" && find_value(base.value(), "/validate/data") == nullptr;
  return token.is_key && (parent == "/nodes" || parent == "/vars" || validations);
}

Mutant edited(const Base& base, std::size_t begin, std::size_t end, const std::string& replacement) {
  Mutant mutant;
  mutant.text = base.text().substr(0, begin) + replacement + base.text().substr(end);
  const Source source("", mutant.text);
  const std::size_t behind = begin + replacement.size();
  mutant.lines = {source.line_of(last_text(mutant.text, begin)), source.line_of(begin),
                  source.line_of(next_text(mutant.text, behind))};
  return mutant;
}

Mutant respelt(Base& base, const Token& token, const std::string& replacement) {
  Mutant mutant = edited(base, token.begin, token.end, replacement);
  mutant.lines = {Source("", mutant.text).line_of(token.begin)};
  const std::string word = base.word(token);
  const auto differs = std::mismatch(word.begin(), word.end(), replacement.begin(), replacement.end()).first;
  const bool another_number = !token.is_string && Json::accept(replacement);
  const bool another_quantity = is_quantity(word) && is_quantity(replacement) && unit_of(word) == unit_of(replacement);
  const bool unused = introduces_name(base, token) && !base.is_referred_to(word);
  if (another_number || another_quantity || unused ||
      base.is_free(token, token.begin + static_cast<std::size_t>(differs - word.begin()))) {
    mutant.fate = Fate::kLegalValue;
  }
  add_uses(mutant, base, token);
  return mutant;
}

std::vector<NamedOperator> text_operators() {
  return {{"a letter dropped", drop_letter},
          {"two neighbours swapped", swap_neighbours},
          {"a structural character deleted", delete_structure},
          {"a structural character inserted", insert_structure},
          {"a structural character replaced", replace_structure},
          {"the file cut", cut},
          {"a type changed", change_type},
          {"a number overflowing", overflow},
          {"a key duplicated", duplicate_key}};
}

}  // namespace tenon::core::testing
