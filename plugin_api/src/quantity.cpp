// Reading and writing quantities with a unit.
#include <tenon/quantity.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include <tenon/error.hpp>

namespace tenon {
namespace {

constexpr double kSpanBound = 0x1p53;  // below it a double holds every whole number
constexpr double kBytesBound = 0x1p62;

struct Parts {
  double number = 0;
  bool whole = false;
  std::string unit;
};

/// Splits "25 MiB" into its number and its unit; blanks between them are optional.
Parts split(std::string_view text, std::string_view example) {
  Parts parts;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, parts.number);
  const std::string_view digits(text.data(), static_cast<std::size_t>(rest - text.data()));
  const bool is_tiny = digits.find("e-") != std::string_view::npos || digits.find("E-") != std::string_view::npos;
  if (error == std::errc::result_out_of_range && !is_tiny) {
    parts.number = digits.front() == '-' ? -HUGE_VAL : HUGE_VAL;
  } else if (error != std::errc() || !std::isfinite(parts.number)) {
    throw Error(ErrorCode::kConfig, "\"" + std::string(text) + "\" does not start with a number; write it like \"" +
                                        std::string(example) + "\"");
  }
  parts.whole = parts.number == std::floor(parts.number);
  std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  while (!unit.empty() && unit.back() == ' ') unit.remove_suffix(1);
  if (unit.empty()) {
    throw Error(ErrorCode::kConfig,
                "\"" + std::string(text) + "\" has no unit; write it like \"" + std::string(example) + "\"");
  }
  if (parts.number < 0) {
    throw Error(ErrorCode::kConfig, "\"" + std::string(text) + "\" is negative");
  }
  parts.unit = unit;
  return parts;
}

struct Scale {
  std::string_view unit;
  double factor;
};

double scaled(std::string_view text, const Parts& parts, std::span<const Scale> scales, std::string_view units) {
  for (const Scale& scale : scales) {
    if (scale.unit != parts.unit) continue;
    const double value = parts.number * scale.factor;
    if (!std::isfinite(value)) throw Error(ErrorCode::kConfig, "\"" + std::string(text) + "\" is too large");
    return value;
  }
  throw Error(ErrorCode::kConfig, "\"" + std::string(text) + "\" has the unknown unit \"" + parts.unit +
                                      "\"; units are: " + std::string(units));
}

std::string plain(double value) {
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

}  // namespace

int64_t Span::steps(int64_t steps_per_epoch, int64_t samples_per_step) const noexcept {
  switch (unit) {
    case Unit::kSteps: return count;
    case Unit::kEpochs: return count * steps_per_epoch;
    case Unit::kSamples: return samples_per_step > 0 ? (count + samples_per_step - 1) / samples_per_step : count;
  }
  return count;
}

Span parse_span(std::string_view text) {
  const Parts parts = split(text, "500 steps");
  if (parts.number >= kSpanBound) {
    throw Error(ErrorCode::kConfig, "\"" + std::string(text) + "\" is too large; a span counts at most " +
                                        std::to_string(static_cast<int64_t>(kSpanBound) - 1));
  }
  if (!parts.whole) {
    throw Error(ErrorCode::kConfig, "\"" + std::string(text) + "\" is not a whole number of " + parts.unit);
  }
  Span span;
  span.count = static_cast<int64_t>(parts.number);
  if (parts.unit == "step" || parts.unit == "steps") {
    span.unit = Span::Unit::kSteps;
  } else if (parts.unit == "epoch" || parts.unit == "epochs") {
    span.unit = Span::Unit::kEpochs;
  } else if (parts.unit == "sample" || parts.unit == "samples") {
    span.unit = Span::Unit::kSamples;
  } else {
    throw Error(ErrorCode::kConfig, "\"" + std::string(text) + "\" has the unknown unit \"" + parts.unit +
                                        "\"; units are: steps, epochs, samples");
  }
  return span;
}

Time parse_time(std::string_view text) {
  static constexpr std::array<Scale, 5> kScales{{{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}}};
  return {scaled(text, split(text, "15 min"), kScales, "ms, s, min, h, d")};
}

Bytes parse_bytes(std::string_view text) {
  static constexpr std::array<Scale, 9> kScales{{{"B", 1},
                                                 {"kB", 1e3},
                                                 {"MB", 1e6},
                                                 {"GB", 1e9},
                                                 {"TB", 1e12},
                                                 {"KiB", 0x1p10},
                                                 {"MiB", 0x1p20},
                                                 {"GiB", 0x1p30},
                                                 {"TiB", 0x1p40}}};
  const double count = scaled(text, split(text, "25 MiB"), kScales, "B, kB, MB, GB, TB, KiB, MiB, GiB, TiB");
  if (count >= kBytesBound) {
    throw Error(ErrorCode::kConfig, "\"" + std::string(text) + "\" is too large; a size is less than " +
                                        std::to_string(static_cast<int64_t>(kBytesBound)) + " bytes");
  }
  if (count != std::floor(count)) {
    throw Error(ErrorCode::kConfig, "\"" + std::string(text) + "\" is not a whole number of bytes");
  }
  return {static_cast<int64_t>(count)};
}

std::string to_string(const Span& span) {
  static constexpr std::array<std::string_view, 3> kUnits{"step", "epoch", "sample"};
  std::string text = std::to_string(span.count) + " ";
  text += kUnits[static_cast<std::size_t>(span.unit)];
  return span.count == 1 ? text : text + "s";
}

std::string to_string(const Time& time) { return plain(time.seconds) + " s"; }

std::string to_string(const Bytes& bytes) { return std::to_string(bytes.count) + " B"; }

}  // namespace tenon
