// Places and messages.
#include <csv/problems.hpp>

#include <algorithm>
#include <cstdio>

#include <tenon/error.hpp>

namespace tenon::datasets {
namespace {

bool begins_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

}  // namespace

std::string shown(std::string_view text) {
  constexpr int kLongest = 40;
  std::string escaped = "\"";
  int code_points = 0;
  for (const char c : text) {
    if (begins_code_point(c) && ++code_points > kLongest) return escaped + "…\"";
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      escaped += {'\\', c};
    } else if (c == '\n') {
      escaped += "\\n";
    } else if (c == '\r') {
      escaped += "\\r";
    } else if (c == '\t') {
      escaped += "\\t";
    } else if (byte < 0x20U || byte == 0x7FU) {
      char digits[8];
      std::snprintf(digits, sizeof(digits), "\\u%04x", static_cast<unsigned>(byte));
      escaped += digits;
    } else {
      escaped += c;
    }
  }
  return escaped + "\"";
}

void Problems::add(std::size_t offset, const std::string& message) {
  if (full()) return;
  const std::string_view before = text_.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t break_at = before.rfind('\n');
  const std::string_view in_line = break_at == std::string_view::npos ? before : before.substr(break_at + 1);
  const auto column = 1 + std::count_if(in_line.begin(), in_line.end(), begins_code_point);
  messages_.push_back(file_ + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + message);
}

void Problems::fail_if_any(const std::string& pointer) const {
  if (empty()) return;
  std::string all;
  for (const std::string& message : messages_) all += (all.empty() ? "" : "\n") + message;
  if (full()) all += "\n" + file_ + ": the rest is not looked at after " + std::to_string(kMost) + " errors";
  throw Error(ErrorCode::kData, all, pointer);
}

}  // namespace tenon::datasets
