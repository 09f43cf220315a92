// The chain of files.
#include <core/resolve/layers.hpp>

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <core/json/reader.hpp>
#include <core/resolve/file.hpp>
#include <core/resolve/merge.hpp>
#include <core/resolve/variables.hpp>
#include <core/schema/describe.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

namespace fs = std::filesystem;

fs::path identity(const fs::path& path) {
  std::error_code error;
  fs::path canonical = fs::weakly_canonical(path, error);
  return error ? path : canonical;
}

}  // namespace

std::optional<Tree> LayerReader::read_pipeline(const fs::path& path, const std::optional<std::string>& text) {
  if (!text) return read_file(path, LayerKind::kFile, {});
  open_.push_back(identity(path));
  std::optional<Tree> tree = read_document(std::make_shared<const Source>(path.string(), *text), LayerKind::kFile);
  if (tree) tree = upon_bases(std::move(*tree));
  open_.pop_back();
  return tree;
}

std::optional<Tree> LayerReader::read_overlay(const fs::path& path) {
  const SourcePtr source = read_source(path, {}, diagnostics_);
  if (!source) return std::nullopt;
  std::optional<Tree> tree = read_document(source, LayerKind::kOverlay);
  if (!tree) return std::nullopt;
  if (const Tree* extends = tree->find("extends")) {
    Diagnostic diagnostic = diagnostic_at(*extends, "/extends", "bad-extends", "an overlay cannot extend another file");
    diagnostic.label = "name both files with --overlay";
    diagnostics_.add(std::move(diagnostic));
    tree->erase("extends");
  }
  return tree;
}

std::optional<Tree> LayerReader::read_file(const fs::path& path, LayerKind kind, const Span& at) {
  if (++files_ > kMostFiles) {
    if (files_ == kMostFiles + 1) {
      const std::string message = fmt::format("the pipeline is made of more than {} files", kMostFiles);
      diagnostics_.add({.code = "bad-extends", .message = message, .span = at});
    }
    return std::nullopt;
  }
  const SourcePtr source = read_source(path, at, diagnostics_);
  if (!source) return std::nullopt;
  open_.push_back(identity(path));
  std::optional<Tree> tree = read_document(source, kind);
  if (tree) tree = upon_bases(std::move(*tree));
  open_.pop_back();
  return tree;
}

std::optional<Tree> LayerReader::read_document(const SourcePtr& source, LayerKind kind) {
  const Document document = read_json(source, diagnostics_, {.comments = comments_for(source->path())});
  if (!document.usable() || !document.complete) return std::nullopt;
  if (!document.value.is_object()) {
    Span span = document.places[PlaceTable::kRoot].value;
    span.end = std::min(span.end, span.begin + 1);
    diagnostics_.add({.code = "wrong-type",
                      .message = fmt::format("{} must be an object, not {}",
                                             kind == LayerKind::kOverlay ? "an overlay" : "a pipeline",
                                             describe_value(document.value)),
                      .span = span,
                      .label = "write it between { and }"});
    return std::nullopt;
  }
  const fs::path folder = fs::path(source->path()).parent_path();
  Tree tree = make_tree(document, kind, std::make_shared<const fs::path>(folder));
  collect_references(tree, references_);
  return tree;
}

std::optional<Tree> LayerReader::upon_bases(Tree tree) {
  const Tree* found = tree.find("extends");
  if (found == nullptr) {
    remove_nulls(tree, "", StrayNull::kError, diagnostics_);
    return tree;
  }
  const Tree extends = *found;
  tree.erase("extends");
  std::optional<Tree> base = read_bases(extends, *tree.origin.folder);
  if (!base) return std::nullopt;
  // The root's place is that of the file that extends.
  base->origin = tree.origin;
  merge_layer(*base, std::move(tree), StrayNull::kError, diagnostics_);
  return base;
}

std::optional<Tree> LayerReader::read_bases(const Tree& extends, const fs::path& folder) {
  std::vector<const Tree*> names;
  if (extends.is_array()) {
    for (const Tree& element : extends.elements) names.push_back(&element);
  } else {
    names.push_back(&extends);
  }
  Tree base{.value = Json::object()};
  bool complete = true;
  for (const Tree* name : names) {
    const auto refuse = [&](std::string code, std::string message, std::string label) {
      Diagnostic diagnostic = diagnostic_at(*name, "/extends", std::move(code), std::move(message));
      diagnostic.label = std::move(label);
      diagnostics_.add(std::move(diagnostic));
      complete = false;
    };
    const std::string* text = name->text();
    if (text == nullptr) {
      refuse("bad-extends",
             fmt::format("extends must be a file name or a list of them, not {}", describe_value(name->value)), "");
      continue;
    }
    if (text->find("${") != std::string::npos) {
      refuse("bad-extends", "variables cannot stand in extends", "files are read before variables are known");
      continue;
    }
    const fs::path path = folder / *text;
    const auto circle = std::find(open_.begin(), open_.end(), identity(path));
    if (circle != open_.end()) {
      refuse("extends-cycle",
             circle + 1 == open_.end() ? fmt::format("{} extends itself", core::quoted(*text))
                                       : fmt::format("{} is extended in a circle", core::quoted(*text)),
             "remove it from one of the files");
      continue;
    }
    std::optional<Tree> tree = read_file(path, LayerKind::kExtends, name->origin.value);
    if (tree) {
      merge_layer(base, std::move(*tree), StrayNull::kError, diagnostics_);
    } else {
      complete = false;
    }
  }
  return complete ? std::optional(std::move(base)) : std::nullopt;
}

}  // namespace tenon::core
