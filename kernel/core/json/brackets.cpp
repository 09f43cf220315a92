// Brackets that do not match, judged by the indentation of lines.
#include <core/json/brackets.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <core/json/lookahead.hpp>
#include <core/json/pointer.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

constexpr std::size_t kMostPlaces = 3;  // Open brackets that one error points at.

}  // namespace

void Brackets::open(std::size_t offset, char opening) {
  open_.push_back({offset, opening, open_.empty() ? std::string() : last_segment(errors_.pointer())});
}

bool Brackets::within_object() const noexcept { return open_.size() > 1 && open_[open_.size() - 2].opening == '{'; }

Brackets::Line Brackets::line_of(std::size_t offset) const {
  const std::size_t number = source_.line_of(offset);
  const std::size_t begin = source_.line_begin(number);
  const std::size_t first = std::min(source_.text().find_first_not_of(" \t", begin), source_.text().size());
  return {number, first, first - begin};
}

Label Brackets::opened_here(const Open& open) const {
  const std::string_view what = open.opening == '{' ? "object" : "list";
  return {errors_.span(open.offset, open.offset + 1),
          open.key.empty() ? fmt::format("the {} is opened here", what)
                           : fmt::format("the {} of {} is opened here", what, core::quoted(open.key))};
}

bool Brackets::closed_before(std::size_t at, std::size_t end) {
  if (!policy_.by_indentation || open_.size() < 2) return false;
  const Line line = line_of(at);
  if (next_token(source_.text(), line.first) != at) return false;  // A comment may stand before it.
  const Line opening = line_of(open_.back().offset);
  const char c = source_.text()[at];
  const std::size_t least = opening.indentation + (c == '}' || c == ']' ? 0 : 1);
  if (opening.number >= line.number || line.indentation >= least) return false;
  report_missing(end);
  return true;
}

void Brackets::report_missing(std::size_t end) {
  at_fault_ = true;
  if (std::exchange(reported_missing_, end) == end) return;  // One error for all that are missing there.
  const char closing = closing_of(open_.back());
  errors_.report(end, end,
                 {.code = "missing-bracket",
                  .message = fmt::format("a {} is missing", closing),
                  .label = fmt::format("write {} here", closing),
                  .replacement = std::string(1, closing),
                  .secondary = {opened_here(open_.back())}});
}

bool Brackets::is_superfluous(std::size_t at) {
  if (!policy_.by_indentation) return false;
  const std::string_view text = source_.text();
  std::size_t next = next_text(text, at + 1);
  if (next < text.size() && text[next] == ',') next = next_text(text, next + 1);
  if (next == text.size()) return false;
  const Line here = line_of(at);
  const Line behind = line_of(next);
  const Line opening = line_of(open_.back().offset);
  const bool whole_root = open_.size() == 1;
  if (behind.number == here.number || (opening.number == here.number && !whole_root)) return false;
  const bool goes_on = behind.indentation > opening.indentation;
  const bool alone = open_.size() < 2 || line_of(open_[open_.size() - 2].offset).number != opening.number;
  const bool closes_there =
      here.first != at && alone && behind.indentation == opening.indentation && text[next] == closing_of(open_.back());
  if (!goes_on && !closes_there) return false;
  at_fault_ = true;
  errors_.report(at, at + 1,
                 {.code = "stray-bracket",
                  .message = fmt::format("one {} too many", text[at]),
                  .label = "remove it",
                  .replacement = "",
                  .secondary = {opened_here(open_.back())}});
  return true;
}

WrongBracket Brackets::judge_wrong(std::size_t at) {
  at_fault_ = true;
  const std::string_view text = source_.text();
  const char found = text[at];
  const char expected = closing_of(open_.back());
  const bool fits_outer =
      std::any_of(open_.begin(), open_.end() - 1, [&](const Open& each) { return closing_of(each) == found; });
  errors_.report(at, at + 1,
                 {.code = "wrong-bracket",
                  .message = fmt::format("{} where {} is expected", found, expected),
                  .label = fits_outer ? fmt::format("{} must be closed first", open_.back().opening)
                                      : fmt::format("no {} is open", found == '}' ? '{' : '['),
                  .secondary = {opened_here(open_.back())}});
  if (policy_.wrong == WrongBracket::kOuter && !fits_outer) return WrongBracket::kPresent;
  return policy_.wrong;
}

void Brackets::report_truncated(std::string_view inside, std::size_t begin) {
  at_fault_ = true;
  if (errors_.stopped()) return;
  SyntaxError error{.code = "truncated", .label = "more is expected here"};
  if (!inside.empty()) {
    error.message = fmt::format("the text ends inside {}", inside);
    error.secondary.push_back({errors_.span(begin, begin + 1), fmt::format("{} begins here", inside)});
  } else if (open_.empty()) {
    error.message = "the text ends before its value";
  } else {
    const Open& last = open_.back();
    error.message = fmt::format("the text ends inside {}{}", last.opening == '{' ? "an object" : "a list",
                                last.key.empty() ? "" : fmt::format(", that of {}", core::quoted(last.key)));
  }
  std::string missing;
  for (const Open& each : open_) missing.insert(0, 1, closing_of(each));
  for (auto each = open_.rbegin(); each != open_.rend() && error.secondary.size() < kMostPlaces; ++each) {
    error.secondary.push_back(opened_here(*each));
  }
  if (!missing.empty() && missing.size() <= 20) {
    error.notes = {fmt::format("still open, from the inside: {}", missing)};
  }
  const std::size_t last = source_.text().find_last_not_of(" \t\r\n");
  const std::size_t end = last == std::string_view::npos ? 0 : last + 1;
  errors_.report_always(end, end, std::move(error));
  errors_.stop();
}

}  // namespace tenon::core
