// Chooses among the ways in which a JSON text with faults can be understood.
#include <core/json/reader.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <core/json/foreign.hpp>
#include <core/json/structure.hpp>

namespace tenon::core {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Tried only where brackets are at fault; of two that explain the text as well the first is taken.
constexpr std::array kOtherPolicies{BracketPolicy{true, WrongBracket::kPresent},
                                    BracketPolicy{true, WrongBracket::kOuter}, BracketPolicy{true, WrongBracket::kNone},
                                    BracketPolicy{false, WrongBracket::kPresent},
                                    BracketPolicy{false, WrongBracket::kNone}};

struct Reading {
  Document document;
  Diagnostics diagnostics;
  std::size_t badness = 0;
  bool depends_on_policy = false;
};

Reading read_once(const SourcePtr& source, const ReadOptions& options, BracketPolicy policy) {
  Reading reading;
  StructureReader reader(source, reading.diagnostics, options, policy);
  reading.document = reader.read();
  reading.badness = reader.badness();
  reading.depends_on_policy = reader.depends_on_policy();
  return reading;
}

Reading read_best(const SourcePtr& source, const ReadOptions& options) {
  Reading plain = read_once(source, options, {});
  if (!plain.depends_on_policy) return plain;
  std::optional<Reading> best;
  for (const BracketPolicy policy : kOtherPolicies) {
    Reading reading = read_once(source, options, policy);
    if (!best || reading.badness < best->badness) best = std::move(reading);
  }
  return best->badness <= plain.badness ? std::move(*best) : std::move(plain);
}

}  // namespace

Comments comments_for(std::string_view path) noexcept {
  constexpr std::string_view kExtension = ".jsonc";
  const bool jsonc = path.size() > kExtension.size() && path.substr(path.size() - kExtension.size()) == kExtension;
  return jsonc ? Comments::kAllow : Comments::kRefuse;
}

Document read_json(const SourcePtr& source, Diagnostics& diagnostics, const ReadOptions& options) {
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
  Reading reading = read_best(source, begun);
  diagnostics.append(reading.diagnostics);
  return std::move(reading.document);
}

}  // namespace tenon::core
