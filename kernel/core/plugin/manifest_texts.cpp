// Character by character, whatever the locale.
#include <core/plugin/manifest_texts.hpp>

#include <algorithm>
#include <cstddef>

namespace tenon::core {
namespace {

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool is_plugin_id(std::string_view id) {
  const auto is_part = [](std::string_view part) {
    return !part.empty() &&
           std::ranges::all_of(part, [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; });
  };
  if (id.find('.') == std::string_view::npos || !is_letter(id.front())) return false;
  while (true) {
    const std::size_t dot = id.find('.');
    if (!is_part(id.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    id.remove_prefix(dot + 1);
  }
}

bool is_version(std::string_view version) {
  return std::ranges::count(version, '.') == 2 && !version.starts_with('.') && !version.ends_with('.') &&
         version.find("..") == std::string_view::npos &&
         std::ranges::all_of(version, [](char c) { return is_digit(c) || c == '.'; });
}

bool is_component_name(std::string_view name) {
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

bool has_control_characters(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) return true;
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    if (byte == 0xc2 && next >= 0x80 && next < 0xa0) return true;
  }
  return false;
}

}  // namespace tenon::core
