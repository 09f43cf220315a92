// Checks a text against a schema and lists what was found.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <core/json/json.hpp>
#include <core/json/reader.hpp>
#include <core/schema/checker.hpp>
#include <core/text/diagnostic.hpp>

namespace tenon::core {

struct Checked {
  Diagnostics diagnostics;

  /// "code line:column pointer" of every finding, in order of place.
  [[nodiscard]] std::vector<std::string> found() const {
    std::vector<std::string> out;
    for (const Diagnostic& each : diagnostics.all()) {
      const Position at = each.span.position();
      out.push_back(each.code + " " + std::to_string(at.line) + ":" + std::to_string(at.column) + " " + each.pointer);
    }
    return out;
  }
};

inline Checked check_text(const std::string& text, const Json& schema, std::string subject = "optimizer:sgd",
                          std::string noun = "parameter") {
  Checked checked;
  const Document document = read_json(std::make_shared<const Source>("a.json", text), checked.diagnostics);
  CheckContext context;
  context.subject = std::move(subject);
  context.noun = std::move(noun);
  context.locate = [&](std::string_view pointer) {
    const auto [place, exact] = document.places.find_nearest(pointer);
    Located located;
    located.key = place->key;
    located.value = located.editable = place->value;
    located.exact = exact;
    return located;
  };
  check_value(document.value, schema, context, checked.diagnostics);
  checked.diagnostics.sort();
  return checked;
}

}  // namespace tenon::core
