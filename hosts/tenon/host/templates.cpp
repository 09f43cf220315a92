// The templates, of which the build makes templates.inc, and what is read off their texts.
#include <host/templates.hpp>

#include <algorithm>

#include <fmt/format.h>

namespace tenon::host {

std::span<const Template> templates() noexcept {
  static constexpr Template kTemplates[]{
#include <templates.inc>
  };
  return kTemplates;
}

std::string_view summary(const Template& each) noexcept {
  std::string_view line = each.text.substr(0, each.text.find('\n'));
  line.remove_prefix(std::min(line.find_first_not_of("/ "), line.size()));
  if (line.ends_with('.')) line.remove_suffix(1);
  return line;
}

std::string text_for(const Template& each, std::string_view name) {
  std::string text(each.text);
  const std::string own = fmt::format("\"name\": \"{}\"", each.name);
  if (const std::size_t at = text.find(own); at != std::string::npos) {
    text.replace(at, own.size(), fmt::format("\"name\": \"{}\"", name));
  }
  return text;
}

}  // namespace tenon::host
