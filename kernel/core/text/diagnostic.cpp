// The collection of findings.
#include <core/text/diagnostic.hpp>

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace tenon::core {
namespace {

bool is_at_or_below(std::string_view pointer, std::string_view ancestor) noexcept {
  return pointer.substr(0, ancestor.size()) == ancestor &&
         (pointer.size() == ancestor.size() || pointer[ancestor.size()] == '/');
}

std::string identity(const Diagnostic& diagnostic, std::size_t source_rank) {
  return fmt::format("{} {}-{} {} {} {} {}", source_rank, diagnostic.span.begin, diagnostic.span.end,
                     to_string(diagnostic.severity), diagnostic.code, diagnostic.pointer, diagnostic.message);
}

}  // namespace

void Diagnostics::add(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::kError) ++errors_;
  if (diagnostic.severity == Severity::kWarning) ++warnings_;
  all_.push_back(std::move(diagnostic));
}

void Diagnostics::append(const Diagnostics& other) {
  for (const Diagnostic& diagnostic : other.all_) add(diagnostic);
}

bool Diagnostics::has_error_under(std::string_view pointer) const noexcept {
  return std::any_of(all_.begin(), all_.end(), [&](const Diagnostic& diagnostic) {
    return diagnostic.severity == Severity::kError && is_at_or_below(diagnostic.pointer, pointer);
  });
}

void Diagnostics::sort() {
  std::unordered_map<const Source*, std::size_t> ranks{{nullptr, 0}};
  for (const Diagnostic& diagnostic : all_) ranks.emplace(diagnostic.span.source.get(), ranks.size());
  const auto key = [&](const Diagnostic& diagnostic) {
    return std::tuple(ranks.at(diagnostic.span.source.get()), diagnostic.span.begin);
  };
  std::stable_sort(all_.begin(), all_.end(), [&](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });

  std::unordered_set<std::string> seen;
  std::vector<Diagnostic> kept;
  for (Diagnostic& diagnostic : all_) {
    if (seen.insert(identity(diagnostic, std::get<0>(key(diagnostic)))).second) kept.push_back(std::move(diagnostic));
  }
  all_.clear();
  errors_ = warnings_ = 0;
  for (Diagnostic& diagnostic : kept) add(std::move(diagnostic));
}

std::vector<Span> Diagnostics::hidden() const {
  std::vector<Span> places;
  for (const Diagnostic& diagnostic : all_) {
    places.insert(places.end(), diagnostic.hidden.begin(), diagnostic.hidden.end());
  }
  return places;
}

int Diagnostics::exit_code() const noexcept {
  for (const Diagnostic& diagnostic : all_) {
    if (diagnostic.severity == Severity::kError) return tenon::exit_code(diagnostic.error_code);
  }
  return 0;
}

std::string_view to_string(Severity severity) noexcept {
  switch (severity) {
    case Severity::kError: return "error";
    case Severity::kWarning: return "warning";
    case Severity::kNote: return "note";
  }
  return "error";
}

}  // namespace tenon::core
