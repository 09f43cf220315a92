// Values, objects and lists.
#include <core/json/structure.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <core/json/lookahead.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

SyntaxError superfluous_comma(std::string_view what) {
  return {.code = "unexpected",
          .message = fmt::format("a comma without a {} before it", what),
          .label = "remove it",
          .replacement = "",
          .applicability = Applicability::kSafe};
}

/// Whether the string at `at` is the first of several, or the only one, in a list.
bool lists_strings(std::string_view text, std::size_t at) {
  const std::optional<std::size_t> end = at < text.size() && text[at] == '"' ? string_end(text, at) : std::nullopt;
  if (!end) return false;
  const std::size_t next = next_text(text, *end);
  return next_char(text, next) == ']' || (next_char(text, next) == ',' && value_follows(text, next + 1));
}

}  // namespace

StructureReader::StructureReader(const SourcePtr& source, Diagnostics& diagnostics, const ReadOptions& options,
                                 BracketPolicy policy)
    : text_(source->text()),
      errors_(source, diagnostics, options.pointer),
      cursor_(text_, options, errors_),
      brackets_(*source, errors_, policy),
      begin_(options.begin),
      value_end_(options.begin) {
  document_.source = source;
  document_.value = Json(Json::value_t::discarded);
}

Document StructureReader::read() {
  cursor_.skip_blanks();
  if (done() && !cursor_.open_comment()) {
    empty();
  } else {
    Json value;
    const bool object = !done() && peek() == '{';
    if (read_value(value, PlaceTable::kRoot)) document_.value = std::move(value);
    cursor_.skip_blanks();
    while (!done()) trailing(object);
    if (cursor_.open_comment()) truncated();
  }
  document_complete_ = document_.complete = !errors_.stopped();
  return std::move(document_);
}

/// Of comments alone, the value is missing behind the last one.
void StructureReader::empty() {
  const std::size_t last = text_.find_last_not_of(" \t\r\n");
  const bool comments = last != std::string_view::npos && last >= begin_;
  errors_.report(comments ? last + 1 : begin_, text_.size(),
                 {.code = "empty-file",
                  .message = comments ? "the text holds nothing but comments" : "the text is empty",
                  .label = "a JSON value is missing"});
  errors_.stop();
}

bool StructureReader::read_value(Json& out, PlaceTable::Id id) {
  if (done()) {
    truncated();
    return false;
  }
  const std::size_t begin = cursor_.at;
  const char c = peek();
  std::optional<Json> value;
  if (replaces_quote(StringRole::kValue)) {
    value = read_unopened_string(StringRole::kValue);
  } else if (c == '{' || c == '[') {
    value = opens_object() ? Json::object() : Json::array();
    read_bracket(*value, id);
  } else if (c == '"' || c == '\'') {
    read_string(value);
  } else if (cursor_.at_number() || cursor_.at_word()) {
    read_bare(value);
  } else if (c == ',' || c == ']' || c == '}' || c == ':') {
    if (skips_bracket()) return read_value(out, id);
    errors_.report(
        begin, begin + 1,
        {.code = "missing-value", .message = "a value is missing", .label = fmt::format("before this {}", c)});
    return false;
  } else {
    unexpected("a value");
    cursor_.skip_to_separator();
    return false;
  }
  if (!comma_taken_) value_end_ = cursor_.at;
  document_.places[id].value = errors_.span(begin, std::max(value_end_, begin + 1));
  if (!value) return false;
  out = std::move(*value);
  return true;
}

void StructureReader::read_string(std::optional<Json>& value) {
  const std::size_t begin = cursor_.at;
  ScannedString string = scan_string(text_, begin, errors_);
  const bool line_ends = !string.closed && string.end < text_.size();
  const char next = string.end < text_.size() ? text_[string.end] : '\0';
  if (line_ends || (string.closed && (begins_word(next) || begins_number(next)))) {
    if (std::optional<MendedString> mended = mend_string(text_, begin, StringRole::kValue)) {
      report_quote(begin, mended->end, *mended);
      cursor_.at = mended->end;
      value = std::move(mended->value);
      return;
    }
  }
  cursor_.at = string.end;
  if (line_ends) report_quote(begin, string.end, {});
  if (!string.closed && cursor_.at_end()) brackets_.report_truncated("a string", begin);
  value = std::move(string.value);
}

/// A number or a word; or a string whose opening quote is lost.
void StructureReader::read_bare(std::optional<Json>& value) {
  const std::size_t begin = cursor_.at;
  if (lost_opening(text_, begin, StringRole::kValue)) {
    value = read_unopened_string(StringRole::kValue);
    return;
  }
  Scalar scalar = cursor_.at_number() ? scan_number(text_, begin, errors_) : scan_word(text_, begin, errors_);
  cursor_.at = scalar.end;
  value = std::move(scalar.value);
}

/// Whether a structural character stands where the opening quote of a string should.
bool StructureReader::replaces_quote(StringRole role) const {
  return std::string_view("{}[],:").find(peek()) != std::string_view::npos && lost_opening(text_, cursor_.at + 1, role);
}

/// A string whose opening quote is lost, or replaced by a structural character.
std::string StructureReader::read_unopened_string(StringRole role) {
  const std::size_t at = cursor_.at;
  const std::size_t begin = replaces_quote(role) ? at + 1 : at;
  const std::size_t quote = lost_opening(text_, begin, role).value_or(begin);
  std::string string = as_utf8(text_.substr(begin, quote - begin));
  errors_.report(
      at, quote + 1,
      {.code = "bad-string",
       .message = fmt::format("the opening quote of this {} is missing", role == StringRole::kKey ? "key" : "string"),
       .label = fmt::format("write {}", core::quoted(string)),
       .replacement = Json(string).dump()});
  cursor_.at = quote + 1;
  return string;
}

void StructureReader::report_quote(std::size_t begin, std::size_t end, const MendedString& mended) {
  if (mended.stray) {
    errors_.report(*mended.stray, *mended.stray + 1,
                   {.code = "bad-string",
                    .message = "a quote within a string",
                    .label = "remove it, or write \\\"",
                    .replacement = "\\\""});
    return;
  }
  SyntaxError error{.code = "bad-string",
                    .message = "this string is not closed on its line",
                    .label = fmt::format("the closing {} is missing", text_[begin]),
                    .notes = {"a line end within a string is written \\n"}};
  if (mended.end > 0) error.replacement = fmt::format("{}\"", text_.substr(begin, end - begin));
  errors_.report(begin, end, std::move(error));
  if (mended.end == 0) errors_.quiet_line(begin);  // Where it should have ended is not known.
}

/// At an opening bracket: whether an object begins. What follows may tell that the bracket is of the wrong kind.
bool StructureReader::opens_object() {
  const bool object = peek() == '{';
  if (brackets_.policy().wrong != WrongBracket::kPresent) return object;
  const std::size_t first = next_text(text_, cursor_.at + 1);
  const bool wrong = object ? lists_strings(text_, first) : key_follows(text_, first);
  if (!wrong) return object;
  brackets_.set_at_fault();
  errors_.report(cursor_.at, cursor_.at + 1,
                 {.code = "wrong-bracket",
                  .message = fmt::format("{} where {} is expected", object ? '{' : '[', object ? '[' : '{'),
                  .label = object ? "values without keys stand between [ and ]" : "keys stand between { and }",
                  .replacement = object ? "[" : "{"});
  return !object;
}

void StructureReader::read_bracket(Json& value, PlaceTable::Id id) {
  const std::size_t begin = cursor_.at++;
  const char opening = value.is_object() ? '{' : '[';
  if (brackets_.depth() == kMaxJsonDepth) {
    errors_.report(begin, begin + 1,
                   {.code = "too-deep",
                    .message = fmt::format("nested deeper than {} levels", kMaxJsonDepth),
                    .label = "reading ends here"});
    errors_.stop();
    return;
  }
  value_end_ = cursor_.at;
  brackets_.open(begin, opening);
  if (value.is_object()) {
    read_members(value, id);
  } else {
    read_elements(value, id);
  }
  brackets_.close();
}

// --- objects ------------------------------------------------------------------------------------------------------------

void StructureReader::read_members(Json& object, PlaceTable::Id id) {
  while (true) {
    cursor_.skip_blanks();
    if (done()) return truncated();
    if (cursor_.at_closing() && !replaces_quote(StringRole::kKey)) {
      if (closes('}')) return;
    } else if (peek() == ',' && !replaces_quote(StringRole::kKey)) {
      errors_.report(cursor_.at, cursor_.at + 1, superfluous_comma("member"));
      ++cursor_.at;
    } else {
      if (brackets_.closed_before(cursor_.at, value_end_)) {
        comma_taken_ = true;
        return;
      }
      read_member(object, id);
      if (!after_value('}')) return;
    }
  }
}

void StructureReader::read_member(Json& object, PlaceTable::Id id) {
  const std::size_t begin = cursor_.at;
  const std::optional<std::string> key = read_key();
  if (!key) return;
  const Span key_span = errors_.span(begin, cursor_.at);
  const std::size_t mark = errors_.enter(*key);
  last_ = *key;
  value_end_ = cursor_.at;
  cursor_.skip_blanks();
  if (read_colon(key_span, *key)) {
    cursor_.skip_blanks();
    const std::optional<PlaceTable::Id> first = document_.places.child(id, *key);
    if (first) {
      errors_.report(key_span.begin, key_span.end,
                     {.code = "duplicate-key",
                      .message = fmt::format("the key {} stands twice in this object", core::quoted(*key)),
                      .label = "remove one of the two",
                      .secondary = {{document_.places[*first].key, "first here"}}});
    }
    const PlaceTable::Id child =
        first ? document_.places.put_detached({key_span, {}}) : document_.places.put(id, *key, {key_span, {}});
    Json value;
    if (read_value(value, child)) {
      read_unopened(value, child, key_span.begin, *key);
      if (!first) append_member(object, *key, std::move(value));
    }
    last_ = *key;
  }
  errors_.leave(mark);
}

/// Behind a member's value: a colon and a value tell that it is the first key of an object whose opening bracket is lost;
/// a comma and a value, or a closing bracket, that it is the first element of such a list.
void StructureReader::read_unopened(Json& value, PlaceTable::Id id, std::size_t key_begin, const std::string& key) {
  if (!brackets_.policy().by_indentation || value.is_structured()) return;
  const std::size_t next = next_text(text_, cursor_.at);
  const char c = next_char(text_, next);
  const bool object = c == ':' && value.is_string() && value_follows(text_, next + 1);
  const bool list = c == ']' || (c == ',' && value_follows(text_, next + 1));
  if (!object && !list) return;
  const std::size_t begin = document_.places[id].value.begin;
  const char opening = object ? '{' : '[';
  brackets_.set_at_fault();
  errors_.report(begin, begin,
                 {.code = "missing-bracket",
                  .message = fmt::format("the {} of {} is missing", opening, core::quoted(key)),
                  .label = fmt::format("write {} here", opening),
                  .replacement = std::string(1, opening)});
  cursor_.at = value_end_ = begin;
  brackets_.open(key_begin, opening);
  if (object) {
    value = Json::object();
    read_members(value, id);
  } else {
    value = Json::array();
    read_elements(value, id);
  }
  brackets_.close();
  if (!comma_taken_) value_end_ = cursor_.at;
  document_.places[id].value = errors_.span(begin, std::max(value_end_, begin + 1));
}

// --- lists --------------------------------------------------------------------------------------------------------------

void StructureReader::read_elements(Json& array, PlaceTable::Id id) {
  while (true) {
    cursor_.skip_blanks();
    if (done()) return truncated();
    if (cursor_.at_closing()) {
      if (closes(']')) return;
    } else if (peek() == ',') {
      errors_.report(cursor_.at, cursor_.at + 1, superfluous_comma("value"));
      ++cursor_.at;
    } else {
      const std::size_t before = value_end_;
      if (brackets_.closed_before(cursor_.at, before)) {
        comma_taken_ = true;
        return;
      }
      const std::size_t begin = cursor_.at;
      read_element(array, id);
      if (ends_list_before_key(array, begin, before)) return;
      if (!after_value(']')) return;
    }
  }
}

void StructureReader::read_element(Json& array, PlaceTable::Id id) {
  const std::string index = fmt::format("{}", array.size());
  const std::size_t mark = errors_.enter(index);
  last_ = index;
  Json value;
  if (peek() == ':') {
    errors_.report(
        cursor_.at, cursor_.at + 1,
        {.code = "unexpected", .message = "a list holds values, not keys", .label = "keys stand between { and }"});
    errors_.quiet_line(cursor_.at);
    ++cursor_.at;
    cursor_.skip_blanks();
  } else if (read_value(value, document_.places.put(id, index, {}))) {
    array.push_back(std::move(value));
  }
  last_ = index;
  errors_.leave(mark);
}

}  // namespace tenon::core
