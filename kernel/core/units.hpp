// Reads quantities with a unit ("500 steps", "15 min", "25 MiB") and says how to mend those that are none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace tenon::core {

/// What a quantity measures; the values of "x-unit" in a schema. They are parsed by <tenon/quantity.hpp>.
enum class UnitKind { kSpan, kTime, kBytes };

enum class Unit { kSteps, kEpochs, kSamples, kSeconds, kBytes };

/// A quantity in base units.
struct Quantity {
  double value = 0;  ///< Never negative; whole unless it counts seconds.
  Unit unit = Unit::kSteps;

  /// The value as an integer; seconds are rounded down.
  [[nodiscard]] std::int64_t count() const noexcept { return static_cast<std::int64_t>(value); }

  friend bool operator==(const Quantity&, const Quantity&) = default;
};

/// Why a text is no quantity.
struct QuantityError {
  std::string message = {};  ///< What is wrong: `"500 stps" has the unknown unit "stps"; units are …`.
  std::string fix = {};      ///< What to write: `did you mean "500 steps"?`.
  std::optional<std::string> replacement = {};  ///< The whole text mended, where one reading is likely.
};

using QuantityResult = std::variant<Quantity, QuantityError>;

/// Parses a quantity of one of the kinds, of which there must be one. Never throws on bad input.
[[nodiscard]] QuantityResult parse_quantity(std::string_view text, std::span<const UnitKind> kinds);

/// "span", "time" or "bytes" as in "x-unit"; nothing for another word.
[[nodiscard]] std::optional<UnitKind> unit_kind(std::string_view word) noexcept;

/// The opposite of `unit_kind`.
[[nodiscard]] std::string_view unit_word(UnitKind kind) noexcept;

/// What to write for a kind: `"500 steps"`, `"15 min"`, `"25 MiB"`, with quotes.
[[nodiscard]] std::string_view unit_example(UnitKind kind) noexcept;

/// A number that lacks its unit, written with each that is likely to be meant: `"5 steps" or "5 epochs"`, `"5 min"`,
/// `"5 MiB"`, with quotes.
[[nodiscard]] std::string with_units(std::string_view number, UnitKind kind);

}  // namespace tenon::core
