// What stands between values, behind the last one, and where something else should stand.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <core/json/foreign.hpp>
#include <core/json/lookahead.hpp>
#include <core/json/structure.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {

bool StructureReader::after_value(char closing) {
  if (std::exchange(comma_taken_, false)) return true;
  const std::size_t end = cursor_.at;
  cursor_.skip_blanks();
  if (done()) {
    truncated();
    return false;
  }
  const char c = peek();
  if (c == ',') {
    const std::size_t comma = cursor_.at++;
    cursor_.skip_blanks();
    if (!done() && peek() == closing) {
      if (brackets_.is_superfluous(cursor_.at)) {
        ++cursor_.at;
        return after_value(closing);
      }
      errors_.report(comma, comma + 1,
                     {.code = "trailing-comma",
                      .message = fmt::format("a comma before {}", closing),
                      .label = "remove it",
                      .replacement = "",
                      .applicability = Applicability::kSafe});
    }
  } else if (c == '"' || c == '\'' || c == '{' || c == '[') {
    if (brackets_.closed_before(cursor_.at, value_end_)) return false;
    const bool sure = closing == '}' && key_follows(text_, cursor_.at);
    errors_.report(end, end,
                   {.code = "missing-comma",
                    .message = "a comma is missing",
                    .label = "write , here",
                    .replacement = ",",
                    .applicability = sure ? Applicability::kSafe : Applicability::kMaybe});
  } else if (c == ':') {
    if (closing == '}') behind_colon();
  } else if (!cursor_.at_closing()) {
    stray_text(end);
  }
  return true;
}

/// At a colon behind a member's value.
void StructureReader::behind_colon() {
  const std::size_t at = cursor_.at++;
  if (key_follows(text_, cursor_.at)) {
    report_last(at, at + 1,
                {.code = "missing-comma", .message = "a colon behind a value", .label = "write ,", .replacement = ","});
    return;
  }
  report_last(at, at + 1,
              {.code = "unexpected", .message = "a colon behind a value", .label = "a comma or } is expected"});
  if (next_char(text_, cursor_.at) == ',' || next_char(text_, cursor_.at) == '}') {
    static_cast<void>(after_value('}'));
    return;
  }
  errors_.quiet_line(at);
  cursor_.skip_to_separator();
  if (!done() && peek() == ',') ++cursor_.at;
}

/// Text behind a value that is no comma: a missing comma, a unit outside a string.
void StructureReader::stray_text(std::size_t value_end) {
  const std::size_t begin = cursor_.at;
  const bool word = cursor_.at_word() || cursor_.at_number();
  const std::size_t end = word ? std::max(word_end(text_, begin), begin + 1) : begin + 1;
  const bool next_line = text_.substr(value_end, begin - value_end).find('\n') != std::string_view::npos;
  if (word && (next_char(text_, end) == ':' || next_line)) {
    errors_.report(
        value_end, value_end,
        {.code = "missing-comma", .message = "a comma is missing", .label = "write , here", .replacement = ","});
    return;
  }
  if (!word && key_follows(text_, end)) {
    report_last(begin, end,
                {.code = "missing-comma",
                 .message = fmt::format("{} where a comma is expected", core::quoted(text_.substr(begin, 1))),
                 .label = "write ,",
                 .replacement = ","});
    cursor_.at = end;
    return;
  }
  report_last(begin, end,
              {.code = "unexpected",
               .message = fmt::format("{} behind a value", core::quoted(text_.substr(begin, end - begin))),
               .label = word ? "a comma is expected; a text with blanks or a unit stands between double quotes"
                             : "a comma is expected"});
  errors_.quiet_line(begin);
  cursor_.at = end;
  cursor_.skip_to_separator();
  if (!done() && peek() == ',') ++cursor_.at;
}

/// True when the object or list ends here; the bracket may be left for an outer one.
bool StructureReader::closes(char expected) {
  if (brackets_.closed_before(cursor_.at, value_end_)) return true;
  if (peek() == expected) {
    const bool superfluous = brackets_.is_superfluous(cursor_.at);
    ++cursor_.at;
    if (superfluous) static_cast<void>(after_value(expected));
    return !superfluous;
  }
  const std::size_t at = cursor_.at;
  const std::size_t mark = errors_.enter(last_);
  const WrongBracket taken = brackets_.judge_wrong(at);
  errors_.leave(mark);
  if (taken == WrongBracket::kOuter) return true;
  ++cursor_.at;
  if (taken == WrongBracket::kPresent) return true;
  static_cast<void>(after_value(expected));
  return false;
}

/// At a closing bracket where a value should stand: passes over it where such brackets are taken for superfluous.
bool StructureReader::skips_bracket() {
  const bool skips =
      cursor_.at_closing() && brackets_.policy().wrong == WrongBracket::kNone && value_follows(text_, cursor_.at + 1);
  brackets_.set_at_fault();
  if (!skips) return false;
  errors_.report(cursor_.at, cursor_.at + 1,
                 {.code = "stray-bracket",
                  .message = fmt::format("{} where a value is expected", peek()),
                  .label = "remove it",
                  .replacement = ""});
  ++cursor_.at;
  cursor_.skip_blanks();
  return true;
}

/// Behind an element that is a key of the object around the list: the list is not closed, and the key is read again.
bool StructureReader::ends_list_before_key(Json& array, std::size_t value_begin, std::size_t before) {
  const bool is_key =
      array.size() > 1 && array.back().is_string() && brackets_.within_object() && next_char(text_, cursor_.at) == ':';
  if (!is_key) return false;
  brackets_.report_missing(before);
  array.erase(array.size() - 1);
  cursor_.at = value_begin;
  value_end_ = before;
  comma_taken_ = true;
  return true;
}

void StructureReader::unexpected(std::string_view wanted) {
  const std::size_t at = cursor_.at;
  const std::string_view rest = text_.substr(at);
  const std::size_t length = code_point_length(rest);
  const std::size_t end = at + std::max<std::size_t>(length, 1);
  if (const LookAlike* found = find_look_alike(rest)) {
    errors_.report(at, at + found->bytes.size(),
                   {.code = "unexpected", .message = std::string(found->message), .label = std::string(found->label)});
  } else if (length == 0) {
    errors_.report(at, end,
                   {.code = "invalid-utf8",
                    .message = fmt::format("byte 0x{:02X} is not UTF-8", static_cast<unsigned char>(peek())),
                    .label = "save the file as UTF-8"});
  } else {
    errors_.report(at, end,
                   {.code = "unexpected",
                    .message = fmt::format("unexpected {}", core::quoted(rest.substr(0, length))),
                    .label = fmt::format("{} is expected", wanted)});
  }
  errors_.quiet_line(at);
}

/// Text behind the whole value. After a superfluous bracket or comma, members of the outermost object are read on.
void StructureReader::trailing(bool object) {
  const char c = peek();
  const bool bracket = cursor_.at_closing();
  brackets_.set_at_fault();
  errors_.report(cursor_.at, cursor_.at + 1,
                 {.code = "trailing-text",
                  .message = bracket ? fmt::format("one {} too many", c) : "text behind the end of the value",
                  .label = bracket ? "nothing is open here" : "the value before it is complete"});
  while (!done() && (cursor_.at_closing() || is_blank(peek()))) ++cursor_.at;
  const bool more = object && document_.value.is_object() && !done() && (peek() == ',' || peek() == '"');
  if (!more) {
    cursor_.at = text_.size();
    return;
  }
  if (peek() == ',') ++cursor_.at;
  brackets_.open(document_.places[PlaceTable::kRoot].value.begin, '{');
  read_members(document_.value, PlaceTable::kRoot);
  brackets_.close();
  cursor_.skip_blanks();
}

void StructureReader::truncated() {
  if (const std::optional<std::size_t> comment = cursor_.open_comment()) {
    brackets_.report_truncated("a comment", *comment);
  } else {
    brackets_.report_truncated();
  }
}

void StructureReader::report_last(std::size_t begin, std::size_t end, SyntaxError error) {
  const std::size_t mark = errors_.enter(last_);
  errors_.report(begin, end, std::move(error));
  errors_.leave(mark);
}

}  // namespace tenon::core
