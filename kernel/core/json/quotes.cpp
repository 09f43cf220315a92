// Tries where a quote may be lost: the first place behind which the rest of the line is JSON is taken.
#include <core/json/quotes.hpp>

#include <algorithm>

#include <core/json/json.hpp>
#include <core/json/lookahead.hpp>
#include <core/json/scalars.hpp>

namespace tenon::core {
namespace {

constexpr std::size_t kLongest = 2000;  // Bytes of a line that are looked at.
constexpr int kMostTries = 40;

bool holds(std::string_view set, char c) noexcept { return set.find(c) != std::string_view::npos; }

/// Whether what follows a string up to the line's end can be JSON, judged by neighbours alone.
class RestOfLine {
 public:
  RestOfLine(std::string_view text, std::size_t from, StringRole role)
      : text_(text), at_(from), end_(line_end(text.substr(0, from + kLongest + 1), from)), role_(role) {}

  bool is_right() {
    if (end_ - at_ > kLongest) return false;
    while (true) {
      while (at_ < end_ && is_blank(text_[at_])) ++at_;
      if (at_ == end_ || text_.substr(at_, 2) == "//") return goes_on();
      if (!take()) return false;
    }
  }

 private:
  enum class Before { kString, kOtherValue, kOpening, kComma, kColon };

  [[nodiscard]] bool behind_value() const noexcept {
    return before_ == Before::kString || before_ == Before::kOtherValue;
  }

  /// What a line may end with, given the line behind it.
  [[nodiscard]] bool goes_on() const {
    const char next = next_char(text_, end_);
    if (must_be_key()) return next == ':';
    if (behind_value()) return next == '\0' || holds(",}]/#", next);
    return before_ == Before::kComma ? !holds(",:}]", next) : !holds(",:", next);
  }

  [[nodiscard]] bool must_be_key() const noexcept { return first_ && role_ == StringRole::kKey; }

  bool take() {
    const char c = text_[at_];
    if (must_be_key() && c != ':') return false;
    const bool fits = c == ',' || c == ':' || holds("}]", c) ? take_separator(c) : !behind_value() && take_value(c);
    first_ = false;
    return fits;
  }

  bool take_separator(char c) {
    ++at_;
    if (c == ':') {
      // A member's value is no key; that of a list's element is not known.
      const bool fits = before_ == Before::kString && !is_member_value_;
      is_member_value_ = true;
      before_ = Before::kColon;
      return fits;
    }
    const bool fits = behind_value() || (c != ',' && before_ == Before::kOpening);
    is_member_value_ = c != ',';
    before_ = c == ',' ? Before::kComma : Before::kOtherValue;
    return fits;
  }

  bool take_value(char c) {
    if (c == '{' || c == '[') {
      ++at_;
      is_member_value_ = false;
      before_ = Before::kOpening;
      return true;
    }
    if (c == '"') {
      const std::optional<std::size_t> closed = string_end(text_, at_);
      at_ = closed.value_or(at_);
      before_ = Before::kString;
      return closed.has_value();
    }
    const std::size_t begin = at_;
    at_ = std::min(std::max(word_end(text_, at_), at_ + 1), end_);
    before_ = Before::kOtherValue;
    return Json::accept(text_.substr(begin, at_ - begin));
  }

  std::string_view text_;
  std::size_t at_;
  std::size_t end_;
  StringRole role_;
  Before before_ = Before::kString;
  bool is_member_value_ = role_ == StringRole::kValue;
  bool first_ = true;
};

std::string without_quotes(std::string_view text) {
  std::string out = as_utf8(text);
  std::erase(out, '"');
  return out;
}

}  // namespace

std::optional<MendedString> mend_string(std::string_view text, std::size_t begin, StringRole role) {
  const std::size_t end = line_end(text.substr(0, begin + kLongest + 1), begin);
  if (end - begin > kLongest || text[begin] != '"') return std::nullopt;
  const std::string_view ends = role == StringRole::kKey ? ":" : ",}]";
  std::optional<std::size_t> stray;
  int braces = 0;  // Of "${…}": those that are closed belong to the string.
  int tries = 0;
  for (std::size_t i = begin + 1; i <= end && tries < kMostTries; ++i) {
    if (i < end && text[i] == '\\') {
      ++i;
      continue;
    }
    if (i < end && text[i] == '"') {
      // The first quote ended the string as it is written; a later one may be its real end.
      ++tries;
      if (stray && RestOfLine(text, i + 1, role).is_right()) {
        return MendedString{i + 1, without_quotes(text.substr(begin + 1, i - begin - 1)), stray};
      }
      if (!stray) stray = i;
      continue;
    }
    if (i < end && text[i] == '{') ++braces;
    if (i < end && text[i] == '}' && braces-- > 0) continue;
    if (stray || (i < end && !holds(ends, text[i]))) continue;
    const std::size_t last = text.find_last_not_of(" \t", i - 1);
    if (last <= begin) continue;
    ++tries;
    if (RestOfLine(text, i, role).is_right()) {
      return MendedString{last + 1, as_utf8(text.substr(begin + 1, last - begin)), std::nullopt};
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> lost_opening(std::string_view text, std::size_t begin, StringRole role) {
  const std::string_view stops = role == StringRole::kKey ? ":{}[],'\"\r\n" : "{}[],'\"\r\n";
  const std::size_t quote = text.substr(0, begin + kLongest).find_first_of(stops, begin);
  if (quote == std::string_view::npos || text[quote] != '"' || quote == begin || is_blank(text[quote - 1]))
    return std::nullopt;
  return RestOfLine(text, quote + 1, role).is_right() ? std::optional(quote) : std::nullopt;
}

}  // namespace tenon::core
