// Diagnostics in the shape of rustc's JSON messages.
#include <core/text/render.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <core/json/json.hpp>

namespace tenon::core {
namespace {

constexpr std::size_t kLongestLine = 4096;  // Longer lines are not repeated in every message.

/// Whether some hidden place lies, at least in part, in a line.
bool shows_hidden(const Source& source, std::size_t number, std::span<const Span> hidden) {
  const std::size_t begin = source.line_begin(number);
  const std::size_t end = begin + source.line(number).size();
  return std::any_of(hidden.begin(), hidden.end(), [&](const Span& each) {
    return each.source.get() == &source && each.begin < end && begin < each.end;
  });
}

Json span_to_json(const Span& span, bool primary, const std::string& label, const std::optional<Suggestion>& suggestion,
                  std::span<const Span> hidden) {
  const Source& source = *span.source;
  const std::size_t last = std::min(std::max(span.end, span.begin), source.text().size());
  const Position begin = source.position(span.begin);
  const Position end = source.position(last);
  Json lines = Json::array();
  for (std::size_t number = begin.line; number <= end.line; ++number) {
    const std::string_view line = source.line(number);
    if (line.size() > kLongestLine || shows_hidden(source, number, hidden)) continue;
    lines.push_back({{"text", std::string(line)},
                     {"highlight_start", number == begin.line ? begin.column : 1},
                     {"highlight_end", number == end.line ? end.column : count_code_points(line) + 1}});
  }
  Json out = {{"file_name", source.path()},
              {"byte_start", span.begin},
              {"byte_end", last},
              {"line_start", begin.line},
              {"line_end", end.line},
              {"column_start", begin.column},
              {"column_end", end.column},
              {"is_primary", primary},
              {"text", std::move(lines)},
              {"label", label.empty() ? Json() : Json(label)},
              {"suggested_replacement", nullptr},
              {"suggestion_applicability", nullptr},
              {"expansion", nullptr}};
  if (suggestion) {
    out["suggested_replacement"] = suggestion->replacement;
    out["suggestion_applicability"] =
        suggestion->applicability == Applicability::kSafe ? "MachineApplicable" : "MaybeIncorrect";
  }
  return out;
}

Json child(std::string_view level, const std::string& message, Json spans) {
  return {{"message", message},        {"code", nullptr},           {"level", level},
          {"spans", std::move(spans)}, {"children", Json::array()}, {"rendered", nullptr}};
}

}  // namespace

std::string render_json(const Diagnostic& diagnostic, std::span<const Span> hidden) {
  std::vector<Span> all_hidden = diagnostic.hidden;
  all_hidden.insert(all_hidden.end(), hidden.begin(), hidden.end());
  Json spans = Json::array();
  if (diagnostic.span) {
    spans.push_back(span_to_json(diagnostic.span, true, diagnostic.label, std::nullopt, all_hidden));
  }
  for (const Label& label : diagnostic.secondary) {
    if (label.span) spans.push_back(span_to_json(label.span, false, label.text, std::nullopt, all_hidden));
  }

  Json children = Json::array();
  for (const std::string& note : diagnostic.notes) children.push_back(child("note", note, Json::array()));
  if (diagnostic.suggestion && diagnostic.suggestion->span) {
    Json place = Json::array();
    place.push_back(span_to_json(diagnostic.suggestion->span, true, "", diagnostic.suggestion, all_hidden));
    children.push_back(child("help", diagnostic.label.empty() ? "write this instead" : diagnostic.label, place));
  }

  const bool is_error = diagnostic.severity == Severity::kError;
  const Json out = {
      {"$message_type", "diagnostic"},
      {"message", diagnostic.message},
      {"code", diagnostic.code.empty() ? Json() : Json{{"code", diagnostic.code}, {"explanation", nullptr}}},
      {"level", to_string(diagnostic.severity)},
      {"spans", std::move(spans)},
      {"children", std::move(children)},
      {"rendered", render_text(diagnostic, {.hidden = hidden})},
      {"pointer", diagnostic.pointer.empty() ? Json() : Json(diagnostic.pointer)},
      {"exit_code", is_error ? Json(tenon::exit_code(diagnostic.error_code)) : Json()}};
  return out.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string render_json(const Diagnostics& diagnostics) {
  std::string out;
  const std::vector<Span> hidden = diagnostics.hidden();
  for (const Diagnostic& diagnostic : diagnostics.all()) out += render_json(diagnostic, hidden);
  return out;
}

}  // namespace tenon::core
