// JSON pointers and dotted paths.
#include <core/json/pointer.hpp>

#include <charconv>

#include <fmt/format.h>

namespace tenon::core {
namespace {

template <typename J>
J* find_in(J& root, std::string_view pointer) noexcept {
  J* value = &root;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::string_view segment = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(segment.size());
    if (value->is_object()) {
      const std::string key = unescape_segment(segment);
      J* found = nullptr;
      for (auto item = value->begin(); item != value->end() && found == nullptr; ++item) {
        if (item.key() == key) found = &item.value();
      }
      if (found == nullptr) return nullptr;
      value = found;
    } else if (value->is_array()) {
      const std::optional<std::size_t> index = array_index(segment);
      if (!index || *index >= value->size()) return nullptr;
      value = &(*value)[*index];
    } else {
      return nullptr;
    }
  }
  return value;
}

}  // namespace

std::string escape_segment(std::string_view key) {
  std::string out;
  out.reserve(key.size());
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::string unescape_segment(std::string_view segment) {
  std::string out;
  out.reserve(segment.size());
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const bool escape = segment[i] == '~' && i + 1 < segment.size();
    if (escape && (segment[i + 1] == '0' || segment[i + 1] == '1')) {
      out += segment[++i] == '0' ? '~' : '/';
    } else {
      out += segment[i];
    }
  }
  return out;
}

std::string child_pointer(std::string_view pointer, std::string_view key) {
  return fmt::format("{}/{}", pointer, escape_segment(key));
}

std::string child_pointer(std::string_view pointer, std::size_t index) { return fmt::format("{}/{}", pointer, index); }

std::string_view parent_pointer(std::string_view pointer) noexcept {
  const std::size_t slash = pointer.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : pointer.substr(0, slash);
}

std::string last_segment(std::string_view pointer) {
  const std::size_t slash = pointer.rfind('/');
  return slash == std::string_view::npos ? std::string() : unescape_segment(pointer.substr(slash + 1));
}

std::vector<std::string> split_pointer(std::string_view pointer) {
  std::vector<std::string> segments;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::string_view segment = pointer.substr(0, pointer.find('/'));
    segments.push_back(unescape_segment(segment));
    pointer.remove_prefix(segment.size());
  }
  return segments;
}

std::string dotted_path(std::string_view pointer) {
  std::string out;
  for (const std::string& segment : split_pointer(pointer)) {
    if (!out.empty()) out += '.';
    out += segment.find('.') == std::string::npos && !segment.empty() ? segment : fmt::format("\"{}\"", segment);
  }
  return out;
}

std::string pointer_from_dotted(std::string_view dotted) {
  std::string out;
  while (true) {
    const std::size_t dot = dotted.find('.');
    out = child_pointer(out, dotted.substr(0, dot));
    if (dot == std::string_view::npos) return out;
    dotted.remove_prefix(dot + 1);
  }
}

std::optional<std::size_t> array_index(std::string_view segment) noexcept {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(segment.data(), segment.data() + segment.size(), index);
  const bool leading_zero = segment.size() > 1 && segment.front() == '0';
  if (error != std::errc() || end != segment.data() + segment.size() || leading_zero) return std::nullopt;
  return index;
}

const Json* find_value(const Json& root, std::string_view pointer) noexcept { return find_in(root, pointer); }

Json* find_value(Json& root, std::string_view pointer) noexcept { return find_in(root, pointer); }

const Json* find_member(const Json& object, std::string_view key) noexcept {
  if (!object.is_object()) return nullptr;
  for (const auto& [name, value] : object.get_ref<const Json::object_t&>()) {
    if (name == key) return &value;
  }
  return nullptr;
}

Json& append_member(Json& object, std::string key, Json value) {
  auto& members = object.get_ref<Json::object_t&>();
  members.emplace_back(std::move(key), std::move(value));
  return members.back().second;
}

}  // namespace tenon::core
