// Changes as rows, and origins for programs.
#include <host/pipeline_diff.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/json/pointer.hpp>
#include <host/table.hpp>

namespace tenon::host {
namespace {

using core::Json;

std::string_view word(core::LayerKind kind) {
  switch (kind) {
    case core::LayerKind::kDefault: return "default";
    case core::LayerKind::kExtends: return "extends";
    case core::LayerKind::kFile: return "file";
    case core::LayerKind::kOverlay: return "overlay";
    case core::LayerKind::kSet: return "set";
  }
  return "";
}

Json place_json(const core::Span& span) {
  const core::Position position = span.position();
  return {{"file", span.source->path()}, {"line", position.line}, {"column", position.column}};
}

/// `inner` is `outer` or lies below it.
bool lies_in(std::string_view inner, std::string_view outer) {
  return inner.starts_with(outer) && (inner.size() == outer.size() || inner[outer.size()] == '/');
}

}  // namespace

Json origin_json(const core::Origin& origin) {
  Json json{{"layer", word(origin.kind)}, {"text", origin.describe()}};
  if (!origin.subject.empty()) json["default_of"] = origin.subject;
  if (origin.value) json["at"] = place_json(origin.value);
  if (!origin.variable.empty()) json["variable"] = origin.variable;
  if (origin.variable_value) json["variable_at"] = place_json(origin.variable_value);
  return json;
}

void PipelineDiff::keep_below(std::string_view pointer) {
  std::erase_if(changes_, [&](const ValueChange& change) {
    return !lies_in(change.pointer, pointer) && !lies_in(pointer, change.pointer);
  });
}

std::string PipelineDiff::text(const Console& console) const {
  const Paint paint = console.paint();
  Table table;
  table.limit(0, 48);
  table.limit(1, 48);
  table.style(1, [&](std::string_view text) { return paint.bold(text); });
  table.style(2, [&](std::string_view text) { return paint.dim(text); });
  for (const ValueChange& change : changes_) {
    std::vector<std::string> origins;
    if (change.before != nullptr) origins.push_back(before_->origin(change.pointer).describe());
    if (change.after != nullptr) origins.push_back(after_->origin(change.pointer).describe());
    table.add({core::dotted_path(change.pointer), to_string(change), fmt::format("{}", fmt::join(origins, " -> "))});
  }
  return table.render(console.width());
}

Json PipelineDiff::json() const {
  Json list = Json::array();
  for (const ValueChange& change : changes_) {
    Json entry = change_json(change);
    if (change.before != nullptr) {
      entry["before"] = {{"value", *change.before}, {"origin", origin_json(before_->origin(change.pointer))}};
    }
    if (change.after != nullptr) {
      entry["after"] = {{"value", *change.after}, {"origin", origin_json(after_->origin(change.pointer))}};
    }
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace tenon::host
