// Numbers and bare words.
#include <core/json/scalars.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_word(char c) noexcept {
  return is_letter(c) || is_digit(c) || c == '_' || c == '$' || c == '-' || c == '.' ||
         static_cast<unsigned char>(c) >= 0x80;
}

std::size_t count_digits(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return out;
}

/// The parts of a number by RFC 8259, read as far as they go.
struct NumberParts {
  std::size_t length = 0;  ///< Bytes that form a number; 0 when none do.
  bool is_integer = true;
};

NumberParts match_number(std::string_view token) noexcept {
  NumberParts parts;
  std::size_t i = !token.empty() && token[0] == '-' ? 1 : 0;
  const std::size_t whole = count_digits(token.substr(i));
  if (whole == 0 || (whole > 1 && token[i] == '0')) return {};
  i += whole;
  parts.length = i;
  if (i < token.size() && token[i] == '.') {
    const std::size_t fraction = count_digits(token.substr(i + 1));
    if (fraction == 0) return parts;
    i += 1 + fraction;
    parts = {i, false};
  }
  if (i < token.size() && (token[i] == 'e' || token[i] == 'E')) {
    std::size_t j = i + 1;
    if (j < token.size() && (token[j] == '+' || token[j] == '-')) ++j;
    const std::size_t exponent = count_digits(token.substr(j));
    if (exponent > 0) parts = {j + exponent, false};
  }
  return parts;
}

bool is_number(std::string_view token) noexcept { return !token.empty() && match_number(token).length == token.size(); }

/// What a miswritten number most likely means, in JSON.
std::optional<std::string> mend_number(std::string_view token) {
  std::string text;
  std::copy_if(token.begin(), token.end(), std::back_inserter(text), [](char c) { return c != '_'; });
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.erase(0, 1);
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    text = fmt::format("{}", value);
  }
  const std::size_t zeros = std::min(text.find_first_not_of('0'), text.size());
  if (zeros > 0 && zeros < text.size() && is_digit(text[zeros])) text.erase(0, zeros);
  if (!text.empty() && text[0] == '.') text.insert(0, "0");
  if (const std::size_t dot = text.find('.'); dot != std::string::npos) {
    if (dot + 1 == text.size() || !is_digit(text[dot + 1])) text.insert(dot + 1, "0");
  }
  if (negative) text.insert(0, "-");
  return is_number(text) && text != token ? std::optional(text) : std::nullopt;
}

void not_a_number(std::size_t begin, std::size_t end, std::string_view token, SyntaxErrors& errors) {
  errors.report(begin, end,
                {.code = "not-a-number",
                 .message = fmt::format("{} is no number of JSON", token),
                 .label = "write a finite number, or leave the key out"});
}

std::string_view fault_of(std::string_view token) {
  const std::string_view digits = token.substr(token.empty() || is_digit(token[0]) ? 0 : 1);
  if (!token.empty() && token[0] == '+') return "a number has no plus sign";
  if (digits.size() > 1 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) return "hexadecimal is not JSON";
  if (digits.size() > 1 && digits[0] == '0' && is_digit(digits[1])) return "a number has no leading zero";
  if (token.find('_') != std::string_view::npos) return "a number has no separators";
  if (token.find('.') != std::string_view::npos) return "digits must stand on both sides of the point";
  return "this is no number";
}

/// "5epochs" or "10ms": a number and letters.
bool is_number_with_unit(std::string_view token) noexcept {
  const std::size_t number = match_number(token).length;
  const bool exponent = token.substr(number) == "e" || token.substr(number) == "E";
  return number > 0 && !exponent && number < token.size() &&
         std::all_of(token.begin() + static_cast<std::ptrdiff_t>(number), token.end(), is_letter);
}

/// The constant of JSON that a word of another language or a slip of the finger stands for.
std::optional<std::string> constant_meant(const std::string& word) {
  if (word == "none" || word == "nil") return "null";
  if (word == "yes" || word == "on") return "true";
  if (word == "no" || word == "off") return "false";
  static const std::array<std::string, 3> kConstants{"true", "false", "null"};
  for (const std::string& constant : kConstants) {
    if (word == constant) return constant;
  }
  return nearest(word, kConstants);
}

Json to_value(std::string_view token, bool is_integer, std::string& fault) {
  if (is_integer) {
    std::int64_t value = 0;
    if (std::from_chars(token.data(), token.data() + token.size(), value).ec != std::errc()) {
      fault = "does not fit a signed 64-bit integer";
    }
    return value < 0 ? Json(value) : Json(static_cast<std::uint64_t>(value));
  }
  double value = 0;
  if (std::from_chars(token.data(), token.data() + token.size(), value).ec != std::errc()) {
    fault = "does not fit a double";
  }
  return value;
}

}  // namespace

bool begins_word(char c) noexcept {
  return is_letter(c) || c == '_' || c == '$' || static_cast<unsigned char>(c) >= 0x80;
}

std::size_t word_end(std::string_view text, std::size_t begin) noexcept {
  while (begin < text.size() && is_word(text[begin])) ++begin;
  return begin;
}

Scalar scan_number(std::string_view text, std::size_t begin, SyntaxErrors& errors) {
  std::size_t end = begin;
  while (end < text.size() && (is_word(text[end]) || text[end] == '+')) ++end;
  const std::string_view token = text.substr(begin, end - begin);

  const NumberParts parts = match_number(token);
  if (parts.length == token.size()) {
    std::string fault;
    Json value = to_value(token, parts.is_integer, fault);
    if (fault.empty()) return {end, std::move(value)};
    errors.report(
        begin, end,
        {.code = "number-range", .message = fmt::format("{} {}", core::quoted(token, 30), fault), .label = ""});
    return {end, std::nullopt};
  }

  const std::string word = lower(token.substr(std::min(token.find_first_not_of("+-"), token.size())));
  if (word == "infinity" || word == "inf" || word == "nan") {
    not_a_number(begin, end, token, errors);
    return {end, std::nullopt};
  }

  SyntaxError error{
      .code = "bad-number", .message = std::string(fault_of(token)), .label = "digits, a point, an exponent"};
  std::optional<Json> value;
  if (is_number_with_unit(token)) {
    error.message = "a quantity with a unit is a string";
    error.replacement = fmt::format("\"{} {}\"", token.substr(0, parts.length), token.substr(parts.length));
    error.label = fmt::format("write {}", *error.replacement);
    value = error.replacement->substr(1, error.replacement->size() - 2);
  } else if (std::optional<std::string> mended = mend_number(token)) {
    std::string fault;
    Json mended_value = to_value(*mended, match_number(*mended).is_integer, fault);
    if (fault.empty()) value = std::move(mended_value);
    error.label = fmt::format("write {}", *mended);
    error.replacement = std::move(mended);
    error.applicability = Applicability::kSafe;
  }
  errors.report(begin, end, std::move(error));
  return {end, std::move(value)};
}

Scalar scan_word(std::string_view text, std::size_t begin, SyntaxErrors& errors) {
  std::size_t end = word_end(text, begin);
  while (end + 1 < text.size() && text[end] == ':' && begins_word(text[end + 1])) end = word_end(text, end + 1);
  const std::string word = as_utf8(text.substr(begin, end - begin));
  if (word == "true") return {end, true};
  if (word == "false") return {end, false};
  if (word == "null") return {end, nullptr};

  const std::string folded = lower(word);
  if (folded == "nan" || folded == "infinity" || folded == "inf") {
    not_a_number(begin, end, word, errors);
    return {end, std::nullopt};
  }

  const std::optional<std::string> constant = constant_meant(folded);
  const std::string string = Json(word).dump();
  const std::string& written = constant ? *constant : string;
  errors.report(begin, end,
                {.code = "unquoted-string",
                 .message = fmt::format("{} is no value of JSON", word),
                 .label = fmt::format("write {}", constant ? written : core::quoted(word)),
                 .replacement = written,
                 .applicability = folded == written ? Applicability::kSafe : Applicability::kMaybe});
  Json value = Json::parse(written);
  return {end, value.is_null() ? std::nullopt : std::optional(std::move(value))};  // A null would be told again.
}

}  // namespace tenon::core
