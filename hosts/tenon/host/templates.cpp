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

std::string text_for(const Template& each, std::string_view name, std::string_view file) {
  std::string text(each.text);
  const auto replace = [&text](const std::string& own, const std::string& other) {
    for (std::size_t at = 0; (at = text.find(own, at)) != std::string::npos; at += other.size()) {
      text.replace(at, own.size(), other);
    }
  };
  replace(fmt::format("\"name\": \"{}\"", each.name), fmt::format("\"name\": \"{}\"", name));
  const bool in_a_line = std::none_of(file.begin(), file.end(), [](char c) { return c >= 0 && c < ' '; });
  if (in_a_line) replace(fmt::format(" {}.jsonc", each.name), fmt::format(" {}", file));
  replace(fmt::format(" runs/{}/", each.name), fmt::format(" runs/{}/", name));
  return text;
}

}  // namespace tenon::host
