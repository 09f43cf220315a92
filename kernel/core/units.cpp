// What is wrong with a quantity, and the nearest right one.
#include <core/units.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <core/text/suggest.hpp>
#include <tenon/error.hpp>
#include <tenon/quantity.hpp>

namespace tenon::core {
namespace {

constexpr int kLongestDays = 36'500;  // Clocks that count nanoseconds in 64 bits hold it.

bool is_too_long(const Quantity& quantity, UnitKind kind) {
  return kind == UnitKind::kTime && quantity.value > kLongestDays * 86400.0;
}

Quantity parse(std::string_view text, UnitKind kind) {
  switch (kind) {
    case UnitKind::kTime: return {parse_time(text).seconds, Unit::kSeconds};
    case UnitKind::kBytes: return {static_cast<double>(parse_bytes(text).count), Unit::kBytes};
    case UnitKind::kSpan: break;
  }
  const tenon::Span span = parse_span(text);
  const auto count = static_cast<double>(span.count);
  switch (span.unit) {
    case tenon::Span::Unit::kEpochs: return {count, Unit::kEpochs};
    case tenon::Span::Unit::kSamples: return {count, Unit::kSamples};
    case tenon::Span::Unit::kSteps: break;
  }
  return {count, Unit::kSteps};
}

std::vector<std::string> units_of(UnitKind kind) {
  switch (kind) {
    case UnitKind::kSpan: return {"steps", "epochs", "samples", "step", "epoch", "sample"};
    case UnitKind::kTime: return {"ms", "s", "min", "h", "d"};
    case UnitKind::kBytes: return {"B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"};
  }
  return {};
}

/// The unit that a word of everyday language stands for.
std::string_view everyday_unit(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 22> kWords{{{"iteration", "step"},
                                                                                  {"iterations", "steps"},
                                                                                  {"iters", "steps"},
                                                                                  {"batch", "step"},
                                                                                  {"batches", "steps"},
                                                                                  {"updates", "steps"},
                                                                                  {"examples", "samples"},
                                                                                  {"images", "samples"},
                                                                                  {"second", "s"},
                                                                                  {"seconds", "s"},
                                                                                  {"sec", "s"},
                                                                                  {"m", "min"},
                                                                                  {"minute", "min"},
                                                                                  {"minutes", "min"},
                                                                                  {"hour", "h"},
                                                                                  {"hours", "h"},
                                                                                  {"day", "d"},
                                                                                  {"days", "d"},
                                                                                  {"bytes", "B"},
                                                                                  {"k", "kB"},
                                                                                  {"M", "MB"},
                                                                                  {"G", "GB"}}};
  const auto* const found = std::find_if(kWords.begin(), kWords.end(), [&](const auto& w) { return w.first == word; });
  return found == kWords.end() ? std::string_view() : found->second;
}

std::string examples(std::span<const UnitKind> kinds) {
  std::string out;
  for (const UnitKind kind : kinds) out += fmt::format("{}{}", out.empty() ? "" : " or ", unit_example(kind));
  return out;
}

struct Written {
  std::string_view number;
  std::string_view unit;
};

/// The text's parts; nothing where there is no number.
std::optional<Written> split(std::string_view text) {
  const std::size_t number_end = std::min(text.find_first_not_of("+-.0123456789eE"), text.size());
  // The exponent's letter may be the first of "epochs".
  const std::size_t last_digit = text.substr(0, number_end).find_last_of("0123456789");
  if (last_digit == std::string_view::npos) return std::nullopt;
  Written written{text.substr(0, last_digit + 1), text.substr(last_digit + 1)};
  while (!written.unit.empty() && written.unit.front() == ' ') written.unit.remove_prefix(1);
  while (!written.unit.empty() && written.unit.back() == ' ') written.unit.remove_suffix(1);
  return written;
}

/// Whether the text means this very kind, whatever else is wrong.
bool has_unit_of(std::string_view text, UnitKind kind) {
  const std::optional<Written> written = split(text);
  const std::vector<std::string> units = units_of(kind);
  return written && std::find(units.begin(), units.end(), written->unit) != units.end();
}

QuantityError explain(std::string_view text, std::span<const UnitKind> kinds, std::string message) {
  QuantityError error{.message = std::move(message), .fix = fmt::format("write it like {}", examples(kinds))};
  const std::optional<Written> written = split(text);
  if (!written) return error;
  const auto [number, unit] = *written;

  std::vector<std::string> candidates;
  for (const UnitKind kind : kinds) {
    for (std::string& candidate : units_of(kind)) candidates.push_back(std::move(candidate));
  }
  std::optional<std::string> meant;
  const std::string_view everyday = everyday_unit(unit);
  if (!everyday.empty() && std::find(candidates.begin(), candidates.end(), everyday) != candidates.end()) {
    meant = everyday;
  } else if (!unit.empty()) {
    meant = nearest(unit, candidates);
  }
  std::string mended = meant ? fmt::format("{} {}", number, *meant) : std::string();
  const bool holds = meant && std::any_of(kinds.begin(), kinds.end(), [&](UnitKind kind) {
                       try {
                         return !is_too_long(parse(mended, kind), kind);
                       } catch (const Error&) {
                         return false;
                       }
                     });
  if (holds) {
    error.fix = fmt::format("did you mean {}?", core::quoted(mended));
    error.replacement = std::move(mended);
  } else if (unit.empty()) {
    error.fix.clear();
    for (const UnitKind kind : kinds)
      error.fix += fmt::format("{} {}", error.fix.empty() ? "write" : " or", with_units(number, kind));
  }
  return error;
}

}  // namespace

QuantityResult parse_quantity(std::string_view text, std::span<const UnitKind> kinds) {
  std::string message;
  for (const UnitKind kind : kinds) {
    try {
      const Quantity quantity = parse(text, kind);
      if (!is_too_long(quantity, kind)) return quantity;
      return QuantityError{.message = fmt::format("{} is longer than {} days", core::quoted(text), kLongestDays),
                           .fix = fmt::format("allowed: up to \"{} d\"", kLongestDays)};
    } catch (const Error& error) {
      if (kinds.size() > 1 && has_unit_of(text, kind)) return explain(text, kinds, error.what());
      if (message.empty()) message = error.what();
    }
  }
  if (kinds.size() > 1) message = fmt::format("{} is no quantity such as {}", core::quoted(text), examples(kinds));
  return explain(text, kinds, std::move(message));
}

std::optional<UnitKind> unit_kind(std::string_view word) noexcept {
  for (const UnitKind kind : {UnitKind::kSpan, UnitKind::kTime, UnitKind::kBytes}) {
    if (word == unit_word(kind)) return kind;
  }
  return std::nullopt;
}

std::string_view unit_word(UnitKind kind) noexcept {
  switch (kind) {
    case UnitKind::kSpan: return "span";
    case UnitKind::kTime: return "time";
    case UnitKind::kBytes: return "bytes";
  }
  return "";
}

std::string_view unit_example(UnitKind kind) noexcept {
  switch (kind) {
    case UnitKind::kSpan: return "\"500 steps\"";
    case UnitKind::kTime: return "\"15 min\"";
    case UnitKind::kBytes: return "\"25 MiB\"";
  }
  return "";
}

std::string with_units(std::string_view number, UnitKind kind) {
  const std::string_view ending = number == "1" ? "" : "s";
  switch (kind) {
    case UnitKind::kSpan: return fmt::format("\"{0} step{1}\" or \"{0} epoch{1}\"", number, ending);
    case UnitKind::kTime: return fmt::format("\"{} min\"", number);
    case UnitKind::kBytes: return fmt::format("\"{} MiB\"", number);
  }
  return std::string(number);
}

}  // namespace tenon::core
