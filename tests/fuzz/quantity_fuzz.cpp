// Quantities with a unit, by every choice of kinds: a value in base units, or an error whose mending is taken.
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <core/units.hpp>
#include <fuzz/fuzz.hpp>
#include <tenon/quantity.hpp>

namespace tenon::core {
namespace {

using fuzz::claim;

bool measures(UnitKind kind, Unit unit) {
  switch (kind) {
    case UnitKind::kTime: return unit == Unit::kSeconds;
    case UnitKind::kBytes: return unit == Unit::kBytes;
    case UnitKind::kSpan: break;
  }
  return unit == Unit::kSteps || unit == Unit::kEpochs || unit == Unit::kSamples;
}

/// A quantity that was taken, spelt by ourselves, is the same; there is no spelling for a time of more than any double.
void check_spelling(std::string_view text, UnitKind kind) {
  switch (kind) {
    case UnitKind::kTime: {
      const Time time = parse_time(text);
      return claim(std::isfinite(time.seconds) && parse_time(to_string(time)) == time, "a time", text);
    }
    case UnitKind::kBytes: return claim(parse_bytes(to_string(parse_bytes(text))) == parse_bytes(text), "a size", text);
    case UnitKind::kSpan: return claim(parse_span(to_string(parse_span(text))) == parse_span(text), "a span", text);
  }
}

/// Whether the text is a quantity of one of the kinds.
bool check(std::string_view text, const std::vector<UnitKind>& kinds) {
  const QuantityResult result = parse_quantity(text, kinds);
  if (const auto* error = std::get_if<QuantityError>(&result)) {
    claim(!error->message.empty() && !error->fix.empty(), "an error says what is wrong and what to write", text);
    if (error->replacement) {
      claim(*error->replacement != text, "a mended text is another", text);
      claim(std::holds_alternative<Quantity>(parse_quantity(*error->replacement, kinds)), "a mended text is a quantity",
            *error->replacement);
    }
    return false;
  }
  const auto& quantity = std::get<Quantity>(result);
  claim(std::isfinite(quantity.value) && quantity.value >= 0, "a quantity is finite and not negative", text);
  claim(quantity.unit == Unit::kSeconds || quantity.value == std::floor(quantity.value), "what is counted is whole",
        text);
  bool fits = false;
  for (const UnitKind kind : kinds) fits = fits || measures(kind, quantity.unit);
  claim(fits, "a quantity is of a kind that was asked for", text);
  return true;
}

}  // namespace
}  // namespace tenon::core

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  using tenon::core::UnitKind;
  const std::string_view text = tenon::fuzz::as_text(data, size);
  constexpr std::array kKinds{UnitKind::kSpan, UnitKind::kTime, UnitKind::kBytes};
  bool any = false;
  for (const UnitKind kind : kKinds) {
    if (!tenon::core::check(text, {kind})) continue;
    tenon::core::check_spelling(text, kind);
    any = true;
  }
  tenon::fuzz::claim(tenon::core::check(text, {kKinds.begin(), kKinds.end()}) == any,
                     "a quantity of several kinds is one of either", text);
  return 0;
}
