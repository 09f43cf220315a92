// Limits and silences the reader's errors.
#include <core/json/syntax_errors.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tenon::core {

SyntaxErrors::SyntaxErrors(SourcePtr source, Diagnostics& diagnostics, std::string pointer)
    : source_(std::move(source)), diagnostics_(diagnostics), pointer_(std::move(pointer)) {}

void SyntaxErrors::report(std::size_t begin, std::size_t end, SyntaxError error) {
  if (begin >= quiet_until_) report_always(begin, end, std::move(error));
}

void SyntaxErrors::report_always(std::size_t begin, std::size_t end, SyntaxError error) {
  if (stopped_) return;
  Diagnostic diagnostic{.code = std::move(error.code),
                        .message = std::move(error.message),
                        .span = span(begin, end),
                        .pointer = pointer_,
                        .label = std::move(error.label),
                        .secondary = std::move(error.secondary),
                        .notes = std::move(error.notes)};
  if (error.replacement) diagnostic.suggestion = {diagnostic.span, std::move(*error.replacement), error.applicability};
  diagnostics_.add(std::move(diagnostic));
  if (++reported_ < kMaxSyntaxErrors) return;
  diagnostics_.add({.code = "too-many-errors",
                    .message = fmt::format("{} syntax errors; the rest of the text was not read", reported_),
                    .span = span(begin, end)});
  stopped_ = true;
}

void SyntaxErrors::quiet_line(std::size_t offset) {
  const std::size_t end = source_->text().find_first_of("\r\n", offset);
  quiet_until_ = std::max(quiet_until_, std::min(end, source_->text().size()) + 1);
}

std::size_t SyntaxErrors::enter(std::string_view key) {
  const std::size_t mark = pointer_.size();
  pointer_ += '/';
  pointer_ += escape_segment(key);
  return mark;
}

}  // namespace tenon::core
