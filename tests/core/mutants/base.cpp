// Takes pipelines apart.
#include <core/mutants/base.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <variant>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <core/units.hpp>

namespace tenon::core::testing {
namespace {

namespace fs = std::filesystem;

/// A word that is neither name, unit, path nor number of any pipeline.
constexpr const char* kNonsense = "zqzq";

bool is_boundary(char c) { return c == '"' || c == '.' || c == '}'; }

}  // namespace

Base::Base(const fs::path& path) : path_(path), name_(path.filename().string()), text_(read_text(path)) {
  const Built built = build(text_);
  right_ = built.graph.has_value();
  if (!right_) return;
  resolved_ = meaning(built.graph->resolved);
  Diagnostics diagnostics;
  document_ = read_json(std::make_shared<Source>(name_, text_), diagnostics, {.comments = comments_for(name_)});
  collect(document_.value, "");
}

void Base::collect(const Json& value, const std::string& pointer) {
  const Place* const place = document_.places.find(pointer);
  ASSERT_NE(place, nullptr) << pointer;
  if (place->key) {
    tokens_.push_back({pointer, place->key.begin + 1, place->key.end - 1, true, true});
    members_.push_back({pointer, place->key.begin, place->value.end});
  }
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) collect(member, child_pointer(pointer, key));
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) collect(value[i], child_pointer(pointer, i));
  } else {
    const std::size_t quote = value.is_string() ? 1 : 0;
    tokens_.push_back({pointer, place->value.begin + quote, place->value.end - quote, false, value.is_string()});
  }
}

std::string Base::kind_of(const std::string& node) const {
  const std::string pointer = child_pointer("/nodes", node);
  const Json* const call = find_value(document_.value, pointer + "/call");
  if (call != nullptr && call->is_string()) return kind_of(call->get<std::string>());
  const Json* const use = find_value(document_.value, pointer + "/use");
  if (use == nullptr || !use->is_string()) return {};
  const std::string text = use->get<std::string>();
  return text.substr(0, text.find(':'));
}

Built Base::build(const std::string& text) const {
  ResolveRequest request;
  request.pipeline = path_;
  request.text = text;
  return testing::build(request);
}

bool Base::is_free(const Token& token, std::size_t at) {
  if (!token.is_string) return false;
  const std::size_t variable = word(token).rfind('}');
  const std::size_t dot =
      std::min(variable == std::string::npos ? text_.find('.', token.begin) : token.begin + variable, token.end);
  const bool tail = dot < token.end && at > dot;
  const std::size_t begin = tail ? dot + 1 : token.begin;
  const std::size_t end = tail ? token.end : dot;
  const auto [found, added] = free_.try_emplace(begin, false);
  if (added) found->second = build(std::string(text_).replace(begin, end - begin, kNonsense)).graph.has_value();
  return found->second;
}

bool Base::is_referred_to(const std::string& node) const {
  return std::any_of(tokens_.begin(), tokens_.end(), [&](const Token& token) {
    const std::string text = word(token);
    const bool names = text.substr(0, text.find('.')) == node || text.starts_with(fmt::format("validate.{}.", node));
    return !token.is_key && token.is_string && token.pointer != "/name" && names;
  });
}

std::vector<std::size_t> Base::lines_of_uses(const std::string& text, const std::string& name) const {
  std::vector<std::size_t> lines = lines_naming(text, name);
  const Json* const variables = find_value(document_.value, "/vars");
  if (variables == nullptr) return lines;
  for (const auto& [variable, value] : variables->items()) {
    if (!value.is_string()) continue;
    const std::string held = value.get<std::string>();
    if (held.substr(0, held.find('.')) != name) continue;
    const std::vector<std::size_t> more = lines_naming(text, variable);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  return lines;
}

std::vector<std::size_t> Base::lines_naming(const std::string& text, const std::string& word) {
  std::vector<std::size_t> lines;
  const Source source("text", text);
  for (std::size_t at = text.find(word); at != std::string::npos && !word.empty(); at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if (at > 0 && is_boundary(text[at - 1]) && end < text.size() && is_boundary(text[end])) {
      lines.push_back(source.line_of(at));
    }
  }
  return lines;
}

std::string meaning(const Json& pipeline) {
  constexpr std::array kKinds{UnitKind::kSpan, UnitKind::kTime, UnitKind::kBytes};
  if (pipeline.is_string()) {
    const auto parsed = parse_quantity(pipeline.get_ref<const std::string&>(), kKinds);
    if (const auto* const quantity = std::get_if<Quantity>(&parsed)) {
      return fmt::format("{}u{}", quantity->value, static_cast<int>(quantity->unit));
    }
  }
  if (!pipeline.is_structured()) return pipeline.dump();
  std::string text(pipeline.is_object() ? "{" : "[");
  for (const auto& [key, value] : pipeline.items()) {
    text += pipeline.is_object() ? Json(key).dump() + ":" : std::string();
    text += meaning(value) + ",";
  }
  return text + (pipeline.is_object() ? "}" : "]");
}

std::vector<Base>& bases() {
  static std::vector<Base> all = [] {
    std::vector<fs::path> files;
    for (const char* const folder : {"sdk/examples/pipelines", "sdk/templates/pipelines", "tests/pipelines/good"}) {
      const fs::path path = fs::path(TENON_SOURCE_DIR) / folder;
      if (!fs::exists(path)) continue;
      for (const auto& entry : fs::directory_iterator(path)) {
        const std::string extension = entry.path().extension().string();
        if (extension == ".json" || extension == ".jsonc") files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
    std::vector<Base> right;
    for (const fs::path& file : files) {
      Base base(file);
      if (base.is_right()) right.push_back(std::move(base));
    }
    return right;
  }();
  return all;
}

}  // namespace tenon::core::testing
