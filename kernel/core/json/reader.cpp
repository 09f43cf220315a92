// The structure of JSON, and how to go on after an error.
#include <core/json/reader.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <core/json/foreign.hpp>
#include <core/json/scalars.hpp>
#include <core/json/syntax_errors.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool begins_number(char c) noexcept { return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.'; }
bool is_structural(char c) noexcept {
  return c == ',' || c == ':' || c == '{' || c == '}' || c == '[' || c == ']' || c == '"' || c == '\'' || c == '/';
}

class Reader {
 public:
  Reader(SourcePtr source, Diagnostics& diagnostics, const ReadOptions& options)
      : text_(source->text()), errors_(source, diagnostics, options.pointer), options_(options), at_(options.begin) {
    document_.source = std::move(source);
    document_.value = Json(Json::value_t::discarded);
  }

  Document read() {
    skip_blanks();
    if (at_end()) {
      errors_.report(options_.begin, text_.size(),
                     {.code = "empty-file", .message = "the text is empty", .label = "a JSON value is missing"});
      document_.complete = false;
      return std::move(document_);
    }
    Json value;
    const bool object = text_[at_] == '{';
    if (read_value(value, PlaceTable::kRoot)) document_.value = std::move(value);
    skip_blanks();
    while (!errors_.stopped() && !at_end()) trailing(object);
    if (errors_.stopped()) document_.complete = false;
    return std::move(document_);
  }

 private:
  [[nodiscard]] bool at_end() const noexcept { return at_ >= text_.size(); }
  [[nodiscard]] bool done() const noexcept { return at_end() || errors_.stopped(); }
  [[nodiscard]] char peek() const noexcept { return text_[at_]; }

  /// Whether a word begins here: invalid bytes and characters that only look like blanks or quotes begin none.
  [[nodiscard]] bool at_word() const noexcept {
    const std::string_view rest = text_.substr(at_);
    return begins_word(peek()) && code_point_length(rest) > 0 && find_look_alike(rest) == nullptr;
  }

  // --- blanks ---------------------------------------------------------------------------------------------------------

  void skip_blanks() {
    while (!done()) {
      if (is_blank(peek())) {
        ++at_;
      } else if (text_.substr(at_, 2) == "//" || peek() == '#') {
        const std::size_t end = std::min(text_.find_first_of("\r\n", at_), text_.size());
        comment(end, peek() == '#');
      } else if (text_.substr(at_, 2) == "/*") {
        const std::size_t close = text_.find("*/", at_ + 2);
        if (close == std::string_view::npos) {
          truncated("inside a comment", at_, at_ + 2);
          return;
        }
        comment(close + 2, false);
      } else {
        return;
      }
    }
  }

  void comment(std::size_t end, bool hash) {
    const bool allowed = options_.comments == Comments::kAllow && !hash;
    if (!allowed && !std::exchange(told_comment_, true)) {
      const std::size_t line_end = std::min(text_.find_first_of("\r\n", at_), end);
      errors_.report(at_, line_end,
                     {.code = "comment",
                      .message = hash ? "# begins no comment" : "comments are not allowed in .json",
                      .label = hash ? "write // in a file that ends in .jsonc"
                                    : "end the file's name in .jsonc, or remove comments"});
    }
    at_ = end;
  }

  // --- values ---------------------------------------------------------------------------------------------------------

  /// Reads the value at the present place into `out` and its place into the table. False when there is none; then the
  /// text has been skipped to where reading can go on.
  bool read_value(Json& out, PlaceTable::Id id) {
    if (done()) {
      truncated_in_bracket();
      return false;
    }
    const std::size_t begin = at_;
    const char c = peek();
    std::optional<Json> value;
    if (c == '{' || c == '[') {
      value = c == '{' ? Json::object() : Json::array();
      read_bracket(*value, id);
    } else if (c == '"' || c == '\'') {
      ScannedString string = scan_string(text_, at_, errors_);
      at_ = string.end;
      if (!string.closed && at_end()) truncated("inside a string", begin, begin + 1);
      value = std::move(string.value);
    } else if (begins_number(c)) {
      take(scan_number(text_, at_, errors_), value);
    } else if (at_word()) {
      take(scan_word(text_, at_, errors_), value);
    } else if (c == ',' || c == ']' || c == '}' || c == ':') {
      errors_.report(
          at_, at_ + 1,
          {.code = "missing-value", .message = "a value is missing", .label = fmt::format("before this {}", c)});
      return false;
    } else {
      unexpected("a value");
      skip_to_separator();
      return false;
    }
    document_.places[id].value = errors_.span(begin, at_);
    if (!value) return false;
    out = std::move(*value);
    return true;
  }

  void take(Scalar scalar, std::optional<Json>& value) {
    at_ = scalar.end;
    value = std::move(scalar.value);
  }

  void read_bracket(Json& value, PlaceTable::Id id) {
    if (open_.size() == kMaxJsonDepth) {
      errors_.report(at_, at_ + 1,
                     {.code = "too-deep",
                      .message = fmt::format("nested deeper than {} levels", kMaxJsonDepth),
                      .label = "reading ends here"});
      errors_.stop();
      ++at_;  // so that the empty value that stands for it has a place
      return;
    }
    open_.push_back(at_);
    ++at_;
    if (value.is_object()) {
      read_members(value, id);
    } else {
      read_elements(value, id);
    }
    open_.pop_back();
  }

  // --- objects --------------------------------------------------------------------------------------------------------

  void read_members(Json& object, PlaceTable::Id id) {
    while (true) {
      skip_blanks();
      if (done()) return truncated_in_bracket();
      if (peek() == '}' || peek() == ']') {
        if (closes('}')) return;
      } else if (peek() == ',') {
        errors_.report(at_, at_ + 1,
                       {.code = "unexpected",
                        .message = "a comma without a member before it",
                        .label = "remove it",
                        .replacement = "",
                        .applicability = Applicability::kSafe});
        ++at_;
      } else {
        read_member(object, id);
        if (!after_value('}')) return;
      }
    }
  }

  void read_member(Json& object, PlaceTable::Id id) {
    const std::size_t begin = at_;
    const std::optional<std::string> key = read_key();
    if (!key) return;
    const Span key_span = errors_.span(begin, at_);
    const std::size_t mark = errors_.enter(*key);
    skip_blanks();
    if (colon(key_span, *key)) {
      skip_blanks();
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
      if (read_value(value, child) && !first) append_member(object, *key, std::move(value));
    }
    errors_.leave(mark);
  }

  /// The key at the present place; without one, what stands there is skipped.
  std::optional<std::string> read_key() {
    const std::size_t begin = at_;
    const char c = peek();
    if (c == '"' || c == '\'') {
      ScannedString string = scan_string(text_, at_, errors_);
      at_ = string.end;
      if (string.closed) return std::move(string.value);
      if (at_end()) truncated("inside a string", begin, begin + 1);
      return std::nullopt;
    }
    if (at_word() || begins_number(c)) {
      at_ = std::max(word_end(text_, at_), at_ + 1);
      const std::string_view raw = text_.substr(begin, at_ - begin);
      std::string word = as_utf8(raw);
      const std::size_t next = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
      if (next < text_.size() && (text_[next] == ':' || text_[next] == '=')) {
        errors_.report(begin, at_,
                       {.code = "unquoted-key",
                        .message = "a key stands between double quotes",
                        .label = fmt::format("write {}", core::quoted(word)),
                        .replacement = Json(word).dump(),
                        .applicability = word == raw ? Applicability::kSafe : Applicability::kMaybe});
        return word;
      }
      errors_.report(begin, at_,
                     {.code = "unexpected",
                      .message = fmt::format("{} is neither a key nor a comma", core::quoted(word)),
                      .label = "a key between double quotes is expected"});
      errors_.quiet_line(begin);
      return std::nullopt;
    }
    if (c == '{' || c == '[') {
      errors_.report(
          at_, at_ + 1,
          {.code = "unexpected", .message = "a value without a key", .label = "write its key and a colon before it"});
      Json ignored;
      read_value(ignored, document_.places.put_detached({}));
      return std::nullopt;
    }
    unexpected("a key between double quotes");
    skip_garbage();
    return std::nullopt;
  }

  /// Takes the colon behind a key. False when no value can follow.
  bool colon(const Span& key, const std::string& name) {
    if (done()) {
      truncated_in_bracket();
      return false;
    }
    if (peek() == ':') {
      ++at_;
      return true;
    }
    if (peek() == ',' || peek() == '}' || peek() == ']') {
      errors_.report(key.begin, key.end,
                     {.code = "missing-value",
                      .message = fmt::format("the key {} has no value", core::quoted(name)),
                      .label = "write a colon and a value behind it"});
      return false;
    }
    const bool assignment = peek() == '=';
    errors_.report(assignment ? at_ : key.end, assignment ? at_ + 1 : key.end,
                   {.code = "missing-colon",
                    .message = fmt::format("no colon behind the key {}", core::quoted(name)),
                    .label = "write :",
                    .replacement = ":",
                    .applicability = assignment ? Applicability::kSafe : Applicability::kMaybe});
    if (assignment) ++at_;
    return true;
  }

  // --- arrays ---------------------------------------------------------------------------------------------------------

  void read_elements(Json& array, PlaceTable::Id id) {
    while (true) {
      skip_blanks();
      if (done()) return truncated_in_bracket();
      if (peek() == '}' || peek() == ']') {
        if (closes(']')) return;
      } else if (peek() == ',') {
        errors_.report(at_, at_ + 1,
                       {.code = "unexpected",
                        .message = "a comma without a value before it",
                        .label = "remove it",
                        .replacement = "",
                        .applicability = Applicability::kSafe});
        ++at_;
      } else {
        read_element(array, id);
        if (!after_value(']')) return;
      }
    }
  }

  void read_element(Json& array, PlaceTable::Id id) {
    const std::string index = fmt::format("{}", array.size());
    const std::size_t mark = errors_.enter(index);
    Json value;
    if (peek() == ':') {
      errors_.report(
          at_, at_ + 1,
          {.code = "unexpected", .message = "a list holds values, not keys", .label = "keys stand between { and }"});
      errors_.quiet_line(at_);
      ++at_;
      skip_blanks();
    } else if (read_value(value, document_.places.put(id, index, {}))) {
      array.push_back(std::move(value));
    }
    errors_.leave(mark);
  }

  // --- between values -------------------------------------------------------------------------------------------------

  /// Behind a member or an element: takes the comma, or reports what is there. False once the text is over.
  bool after_value(char closing) {
    const std::size_t end = at_;
    skip_blanks();
    if (done()) {
      truncated_in_bracket();
      return false;
    }
    const char c = peek();
    if (c == ',') {
      const std::size_t comma = at_++;
      skip_blanks();
      if (!done() && peek() == closing) {
        errors_.report(comma, comma + 1,
                       {.code = "trailing-comma",
                        .message = fmt::format("a comma before {}", closing),
                        .label = "remove it",
                        .replacement = "",
                        .applicability = Applicability::kSafe});
      }
    } else if (c == '"' || c == '\'' || c == '{' || c == '[') {
      errors_.report(
          end, end,
          {.code = "missing-comma", .message = "a comma is missing", .label = "write , here", .replacement = ","});
    } else if (c == ':' && closing == ']') {
      return true;
    } else if (c != '}' && c != ']') {
      stray_text(end);
    }
    return true;
  }

  /// Text behind a value that is no comma: a missing comma, an unescaped quote, a unit outside a string.
  void stray_text(std::size_t value_end) {
    const std::size_t begin = at_;
    const bool word = at_word() || begins_number(peek());
    at_ = word ? std::max(word_end(text_, at_), at_ + 1) : at_ + 1;
    const std::size_t next = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    if (word && ((next < text_.size() && text_[next] == ':') ||
                 text_.substr(value_end, begin - value_end).find('\n') != std::string_view::npos)) {
      errors_.report(
          value_end, value_end,
          {.code = "missing-comma", .message = "a comma is missing", .label = "write , here", .replacement = ","});
      at_ = begin;
      return;
    }
    errors_.report(begin, at_,
                   {.code = "unexpected",
                    .message = fmt::format("{} behind a value", core::quoted(text_.substr(begin, at_ - begin))),
                    .label = word ? "a comma is expected; a text with blanks or a unit stands between double quotes"
                                  : "a comma is expected"});
    errors_.quiet_line(begin);
    skip_to_separator();
    if (!done() && peek() == ',') ++at_;
  }

  /// At a closing bracket: takes it when it ends the present object or array. The wrong one is an error; it is left for
  /// an outer bracket that it fits.
  bool closes(char expected) {
    const char found = peek();
    if (found != expected) {
      const std::size_t opened = open_.back();
      errors_.report(at_, at_ + 1,
                     {.code = "wrong-bracket",
                      .message = fmt::format("{} where {} is expected", found, expected),
                      .label = fmt::format("{} must be closed first", text_[opened]),
                      .secondary = {{errors_.span(opened, opened + 1), "opened here"}}});
      const char opening = found == '}' ? '{' : '[';
      const bool fits_outer =
          std::any_of(open_.begin(), open_.end() - 1, [&](std::size_t offset) { return text_[offset] == opening; });
      if (fits_outer) return true;
    }
    ++at_;
    return true;
  }

  void unexpected(std::string_view wanted) {
    const std::size_t length = code_point_length(text_.substr(at_));
    const std::size_t end = at_ + std::max<std::size_t>(length, 1);
    if (const LookAlike* found = find_look_alike(text_.substr(at_))) {
      errors_.report(
          at_, at_ + found->bytes.size(),
          {.code = "unexpected", .message = std::string(found->message), .label = std::string(found->label)});
    } else if (length == 0) {
      errors_.report(at_, end,
                     {.code = "invalid-utf8",
                      .message = fmt::format("byte 0x{:02X} is not UTF-8", static_cast<unsigned char>(peek())),
                      .label = "save the file as UTF-8"});
    } else {
      errors_.report(at_, end,
                     {.code = "unexpected",
                      .message = fmt::format("unexpected {}", core::quoted(text_.substr(at_, length))),
                      .label = fmt::format("{} is expected", wanted)});
    }
    errors_.quiet_line(at_);
  }

  /// Skips what can begin neither key nor value; at least one byte.
  void skip_garbage() {
    do {
      ++at_;
    } while (!at_end() && !is_blank(peek()) && !is_structural(peek()) && !at_word() && !begins_number(peek()));
  }

  /// Skips to a comma or closing bracket, or to the line's end, over strings.
  void skip_to_separator() {
    while (!done()) {
      const char c = peek();
      if (c == ',' || c == '}' || c == ']' || c == '\n' || c == '\r') return;
      at_ = c == '"' ? scan_string(text_, at_, errors_).end : at_ + 1;
    }
  }

  // --- ends -----------------------------------------------------------------------------------------------------------

  void truncated_in_bracket() {
    if (errors_.stopped()) return;
    if (open_.empty()) return truncated("before its value", text_.size(), text_.size());
    const std::size_t opened = open_.back();
    truncated(text_[opened] == '{' ? "inside an object" : "inside a list", opened, opened + 1);
  }

  void truncated(std::string_view where, std::size_t opened, std::size_t opened_end) {
    std::string missing;
    for (const std::size_t offset : open_) missing.insert(0, 1, text_[offset] == '{' ? '}' : ']');
    SyntaxError error{
        .code = "truncated", .message = fmt::format("the text ends {}", where), .label = "more is expected here"};
    if (opened < opened_end) error.secondary = {{errors_.span(opened, opened_end), "opened here"}};
    if (!missing.empty() && missing.size() <= 20)
      error.notes = {fmt::format("still open, from the inside: {}", missing)};
    const std::size_t last = text_.find_last_not_of(" \t\r\n");
    const std::size_t end = last == std::string_view::npos ? 0 : last + 1;
    errors_.report_always(end, end, std::move(error));
    errors_.stop();
  }

  /// Text behind the whole value. After a superfluous bracket or comma, members of the outermost object are read on.
  void trailing(bool object) {
    const char c = peek();
    const bool bracket = c == '}' || c == ']';
    errors_.report(at_, at_ + 1,
                   {.code = "trailing-text",
                    .message = bracket ? fmt::format("one {} too many", c) : "text behind the end of the value",
                    .label = bracket ? "nothing is open here" : "the value before it is complete"});
    while (!done() && (peek() == '}' || peek() == ']' || is_blank(peek()))) ++at_;
    const bool more = object && document_.value.is_object() && !done() && (peek() == ',' || peek() == '"');
    if (!more) {
      at_ = text_.size();
      return;
    }
    if (peek() == ',') ++at_;
    open_.push_back(document_.places[PlaceTable::kRoot].value.begin);
    read_members(document_.value, PlaceTable::kRoot);
    open_.pop_back();
    skip_blanks();
  }

  std::string_view text_;
  Document document_;
  SyntaxErrors errors_;
  const ReadOptions& options_;
  std::size_t at_;
  std::vector<std::size_t> open_;  // Offsets of the brackets that are open.
  bool told_comment_ = false;
};

}  // namespace

Comments comments_for(std::string_view path) noexcept {
  constexpr std::string_view kExtension = ".jsonc";
  const bool jsonc = path.size() > kExtension.size() && path.substr(path.size() - kExtension.size()) == kExtension;
  return jsonc ? Comments::kAllow : Comments::kRefuse;
}

Document read_json(SourcePtr source, Diagnostics& diagnostics, const ReadOptions& options) {
  const std::string_view text = source->text();
  if (const std::string_view reason = binary_reason(text); !reason.empty()) {
    Document document{.source = source, .value = Json(Json::value_t::discarded), .places = {}, .complete = false};
    Diagnostic diagnostic;  // Without a place: its line would show noise.
    diagnostic.code = "binary-file";
    diagnostic.message = fmt::format("{} is not a JSON text: {}", source->path(), reason);
    diagnostic.pointer = options.pointer;
    diagnostics.add(std::move(diagnostic));
    return document;
  }
  ReadOptions begun = options;
  if (options.begin == 0 && text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    begun.begin = kByteOrderMark.size();
    const Span mark{source, 0, kByteOrderMark.size()};
    Diagnostic diagnostic;
    diagnostic.severity = Severity::kWarning;
    diagnostic.code = "byte-order-mark";
    diagnostic.message = "the file begins with a byte order mark";
    diagnostic.span = mark;
    diagnostic.label = "save it as UTF-8 without one";
    diagnostic.suggestion = Suggestion{mark, "", Applicability::kSafe};
    diagnostics.add(std::move(diagnostic));
  }
  return Reader(std::move(source), diagnostics, begun).read();
}

}  // namespace tenon::core
