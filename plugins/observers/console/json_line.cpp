// A small writer of JSON: a plugin brings no library for one line.
#include <console/json_line.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace tenon::observers {
namespace {

std::string_view name_of(Event::Kind kind) noexcept {
  switch (kind) {
    case Event::Kind::kRunStart: return "run_start";
    case Event::Kind::kStep: return "step";
    case Event::Kind::kValidateStart: return "";
    case Event::Kind::kValidateEnd: return "validate";
    case Event::Kind::kCheckpoint: return "checkpoint";
    case Event::Kind::kBest: return "best";
    case Event::Kind::kTest: return "test";
    case Event::Kind::kExport: return "export";
    case Event::Kind::kMessage: return "message";
    case Event::Kind::kRunEnd: return "run_end";
    case Event::Kind::kFailure: return "failure";
    case Event::Kind::kTiming: return "timing";
  }
  return "";
}

/// Bytes of the character at the front, 0 where it is no UTF-8 (RFC 3629).
std::size_t valid_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool beyond = (lead == 0xED && byte(1) > 0x9F) || (lead == 0xF4 && byte(1) > 0x8F);
  return overlong || beyond ? 0 : length;
}

void add_text(std::string& out, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    const std::size_t length = valid_length(text);
    const auto first = static_cast<unsigned char>(text.front());
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (first == '"' || first == '\\') {
      out += '\\';
      out += text.front();
    } else if (first == '\n') {
      out += "\\n";
    } else if (first < 0x20) {
      out += "\\u00";
      out += kDigits[first >> 4U];
      out += kDigits[first & 0xFU];
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

/// The shortest text that is read back as the same number; what is not finite becomes text as in the log.
void add_number(std::string& out, double value) {
  if (!std::isfinite(value)) return add_text(out, std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  const std::string_view text(digits.data(), error == std::errc() ? static_cast<std::size_t>(end - digits.data()) : 0);
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

}  // namespace

std::string json_line(const Event& event, double time) {
  const std::string_view name = name_of(event.kind);
  if (name.empty()) return "";
  std::string out = "{\"event\":";
  add_text(out, name);
  out += ",\"step\":" + std::to_string(event.step) + ",\"time\":";
  add_number(out, time);
  out += ",\"epoch\":" + std::to_string(event.epoch);
  if (!event.text.empty()) {
    out += ",\"text\":";
    add_text(out, event.text);
  }
  std::string_view before = ",\"values\":{";
  for (const LoggedValue& value : event.values) {
    out += before;
    before = ",";
    add_text(out, value.key);
    out += ':';
    add_number(out, value.value);
  }
  if (!event.values.empty()) out += '}';
  return out + "}\n";
}

}  // namespace tenon::observers
