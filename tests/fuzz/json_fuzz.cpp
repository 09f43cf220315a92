// The reader of JSON with positions against nlohmann's parser, and the rendering of all that it reports.
#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include <core/json/pointer.hpp>
#include <core/json/reader.hpp>
#include <core/text/readable.hpp>
#include <core/text/render.hpp>
#include <fuzz/fuzz.hpp>

namespace tenon::core {
namespace {

using fuzz::claim;

/// Errors about texts that are JSON all the same.
constexpr std::array<std::string_view, 4> kStricter{"duplicate-key", "number-range", "too-deep", "binary-file"};

void check_span(const Span& span, std::string_view code) {
  const std::size_t size = span.source->text().size();
  claim(span.begin <= span.end && span.end <= size, "a span lies within the text", code);
  const Position at = span.position();
  claim(at.line >= 1 && at.line <= span.source->line_count() && at.column >= 1, "a position is one of the text", code);
}

void check_text(std::string_view text) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = code_point_length(rest);
    claim(length > 0, "what is told is UTF-8", text);
    rest.remove_prefix(length);
  }
}

void check(const Diagnostic& diagnostic) {
  claim(!diagnostic.code.empty() && !diagnostic.message.empty(), "a finding has code and message");
  if (diagnostic.span) {
    check_span(diagnostic.span, diagnostic.code);
  } else {
    claim(diagnostic.code == "binary-file", "a finding has a place", diagnostic.code);
  }
  check_text(diagnostic.message);
  check_text(diagnostic.label);
  check_text(diagnostic.pointer);
  for (const std::string& note : diagnostic.notes) check_text(note);
  for (const Label& label : diagnostic.secondary) {
    check_span(label.span, diagnostic.code);
    check_text(label.text);
  }
  if (diagnostic.suggestion) {
    check_span(diagnostic.suggestion->span, diagnostic.code);
    claim(diagnostic.suggestion->replacement != diagnostic.suggestion->span.text(), "a suggestion changes something",
          diagnostic.code);
  }
}

/// Rendering costs far more than reading: of each code one finding is rendered, and the first of all as JSON too.
void check_rendering(const Diagnostics& diagnostics) {
  std::set<std::string_view> codes;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (!codes.insert(diagnostic.code).second) continue;
    const std::string text = render_text(diagnostic, {.color = codes.size() % 2 == 0});
    claim(text.find(readable(diagnostic.message)) != std::string::npos && text.ends_with('\n'),
          "what is found is shown", text);
    check_text(text);
    if (codes.size() > 1) continue;
    const std::string line = render_json(diagnostic);
    claim(line.find('\n') + 1 == line.size() && Json::accept(line), "a finding is a line of JSON", line);
  }
}

/// `exact`: the text is JSON, so each place holds the text of its value.
void check_places(const Document& document, const Json& value, const std::string& pointer, bool exact) {
  const Place* place = document.places.find(pointer);
  claim(place != nullptr && place->value, "each value has a place", pointer);
  check_span(place->value, pointer);
  const std::string_view text = place->value.text();
  claim(!text.empty(), "a value's place is not empty", pointer);
  if (value.is_object() || value.is_array()) {
    claim(!exact || text.front() == (value.is_object() ? '{' : '['), "a place begins with its bracket", pointer);
    for (const auto& [key, member] : value.items()) {
      const std::string child = pointer + "/" + escape_segment(key);
      check_places(document, member, child, exact);
      if (!exact || !value.is_object()) continue;
      const Json read = Json::parse(document.places.find(child)->key.text());
      claim(read == key, "a key's place holds the key", child);
    }
  } else if (exact) {
    claim(Json::parse(text).dump() == value.dump(), "a value's place holds the value", pointer);
  }
}

void check(std::string_view text, Comments comments) {
  Diagnostics diagnostics;
  const auto source = std::make_shared<Source>("fuzz.json", std::string(text));
  const Document document = read_json(source, diagnostics, {.comments = comments});
  for (const Diagnostic& diagnostic : diagnostics.all()) check(diagnostic);
  check_rendering(diagnostics);

  const bool allowed = comments == Comments::kAllow;
  const bool is_json = Json::accept(text, allowed);
  claim(is_json || diagnostics.has_errors(), "what is no JSON has an error");
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    const bool expected = std::ranges::find(kStricter, diagnostic.code) != kStricter.end();
    claim(!is_json || expected || diagnostic.severity != Severity::kError || diagnostic.code == "too-many-errors",
          "JSON has only errors that are meant", diagnostic.code);
  }
  if (!diagnostics.has_errors()) {
    claim(document.complete && document.usable(), "JSON is read to its end");
    const Json expected = Json::parse(text, nullptr, true, allowed);
    claim(document.value.dump() == expected.dump(), "both readers find the same value", document.value.dump());
  }
  if (document.usable()) (void)document.value.dump();  // throws where a text is not UTF-8
  if (document.usable()) check_places(document, document.value, "", !diagnostics.has_errors());
}

}  // namespace
}  // namespace tenon::core

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  using tenon::core::Comments;
  const std::string_view text = tenon::fuzz::as_text(data, size);
  tenon::core::check(text, Comments::kRefuse);
  if (text.find('/') != std::string_view::npos) tenon::core::check(text, Comments::kAllow);
  return 0;
}
