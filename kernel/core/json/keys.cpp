// Keys and the colons behind them.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <core/json/lookahead.hpp>
#include <core/json/structure.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {

std::optional<std::string> StructureReader::read_key() {
  const char c = peek();
  if (replaces_quote(StringRole::kKey)) return read_unopened_string(StringRole::kKey);
  if (c == '"' || c == '\'') return read_quoted_key();
  if (cursor_.at_word() || cursor_.at_number()) return read_bare_key();
  if (c == '{' || c == '[') {
    brackets_.set_at_fault();
    errors_.report(
        cursor_.at, cursor_.at + 1,
        {.code = "unexpected", .message = "a value without a key", .label = "write its key and a colon before it"});
    if (brackets_.policy().wrong == WrongBracket::kNone) {
      ++cursor_.at;
      comma_taken_ = true;  // Nothing was read that a comma must follow.
      return std::nullopt;
    }
    Json ignored;
    read_value(ignored, document_.places.put_detached({}));
    return std::nullopt;
  }
  unexpected("a key between double quotes");
  cursor_.skip_garbage();
  return std::nullopt;
}

std::optional<std::string> StructureReader::read_quoted_key() {
  const std::size_t begin = cursor_.at;
  ScannedString string = scan_string(text_, begin, errors_);
  const bool line_ends = !string.closed && string.end < text_.size();
  const char next = next_char(text_, string.end);
  if (line_ends || (string.closed && (begins_word(next) || begins_number(next)))) {
    if (std::optional<MendedString> mended = mend_string(text_, begin, StringRole::kKey)) {
      report_quote(begin, mended->end, *mended);
      cursor_.at = mended->end;
      return std::move(mended->value);
    }
  }
  cursor_.at = string.end;
  if (line_ends) report_quote(begin, string.end, {});
  if (string.closed) return std::move(string.value);
  if (cursor_.at_end()) brackets_.report_truncated("a string", begin);
  return std::nullopt;
}

std::optional<std::string> StructureReader::read_bare_key() {
  const std::size_t begin = cursor_.at;
  if (lost_opening(text_, begin, StringRole::kKey)) return read_unopened_string(StringRole::kKey);
  cursor_.at = std::max(word_end(text_, begin), begin + 1);
  const std::string_view raw = text_.substr(begin, cursor_.at - begin);
  std::string word = as_utf8(raw);
  const char next = next_char(text_, cursor_.at);
  if (next == ':' || next == '=') {
    errors_.report(begin, cursor_.at,
                   {.code = "unquoted-key",
                    .message = "a key stands between double quotes",
                    .label = fmt::format("write {}", core::quoted(word)),
                    .replacement = Json(word).dump(),
                    .applicability = word == raw ? Applicability::kSafe : Applicability::kMaybe});
    return word;
  }
  errors_.report(begin, cursor_.at,
                 {.code = "unexpected",
                  .message = fmt::format("{} is neither a key nor a comma", core::quoted(word)),
                  .label = "a key between double quotes is expected"});
  errors_.quiet_line(begin);
  return std::nullopt;
}

/// Takes the colon behind a key. False when no value can follow.
bool StructureReader::read_colon(const Span& key, const std::string& name) {
  if (done()) {
    truncated();
    return false;
  }
  const std::size_t at = cursor_.at;
  const auto report_colon = [&](std::size_t begin, std::size_t end, Applicability applicability) {
    errors_.report(begin, end,
                   {.code = "missing-colon",
                    .message = fmt::format("no colon behind the key {}", core::quoted(name)),
                    .label = "write :",
                    .replacement = ":",
                    .applicability = applicability});
  };
  if (peek() == ':') {
    ++cursor_.at;
    skip_repeated_colon();
    return true;
  }
  if (peek() == ',' && next_char(text_, at + 1) == ':') {
    errors_.report(at, at + 1,
                   {.code = "unexpected",
                    .message = "a comma between a key and its colon",
                    .label = "remove it",
                    .replacement = "",
                    .applicability = Applicability::kSafe});
    cursor_.at = next_text(text_, at + 1) + 1;
    return true;
  }
  if (peek() == ',' && value_follows(text_, at + 1)) {
    report_colon(at, at + 1, Applicability::kMaybe);
    ++cursor_.at;
    return true;
  }
  if (peek() == ',' || cursor_.at_closing()) {
    errors_.report(key.begin, key.end,
                   {.code = "missing-value",
                    .message = fmt::format("the key {} has no value", core::quoted(name)),
                    .label = "write a colon and a value behind it"});
    return false;
  }
  const bool assignment = peek() == '=';
  report_colon(assignment ? at : key.end, assignment ? at + 1 : key.end,
               assignment ? Applicability::kSafe : Applicability::kMaybe);
  if (assignment) ++cursor_.at;
  return true;
}

/// A second colon, or a comma before the value, is one character too many.
void StructureReader::skip_repeated_colon() {
  cursor_.skip_blanks();
  const bool superfluous = !done() && (peek() == ':' || peek() == ',') && value_follows(text_, cursor_.at + 1);
  if (!superfluous) return;
  errors_.report(cursor_.at, cursor_.at + 1,
                 {.code = "unexpected",
                  .message = fmt::format("a {} before a value", peek() == ':' ? "second colon" : "comma"),
                  .label = "remove it",
                  .replacement = ""});
  ++cursor_.at;
}

}  // namespace tenon::core
