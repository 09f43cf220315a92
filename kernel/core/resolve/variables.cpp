// References to variables.
#include <core/resolve/variables.hpp>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/resolve/merge.hpp>
#include <core/schema/describe.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

constexpr std::string_view kOpening = "${";
constexpr std::string_view kPrefix = "vars.";

/// One "${…}" in a string.
struct Reference {
  std::size_t begin = 0;
  std::size_t end = 0;  ///< Behind the brace, or the string's end when there is none.
  std::string_view inside;
  bool closed = true;
};

std::optional<Reference> next_reference(std::string_view text, std::size_t from) {
  const std::size_t begin = text.find(kOpening, from);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t close = text.find('}', begin);
  if (close == std::string_view::npos)
    return Reference{begin, text.size(), text.substr(begin + kOpening.size()), false};
  return Reference{begin, close + 1, text.substr(begin + kOpening.size(), close - begin - kOpening.size()), true};
}

std::optional<std::string_view> variable_name(const Reference& reference) {
  if (!reference.closed || reference.inside.substr(0, kPrefix.size()) != kPrefix) return std::nullopt;
  return reference.inside.substr(kPrefix.size());
}

std::string reference_to(std::string_view name) { return fmt::format("${{vars.{}}}", name); }

/// The key of the variables: "vars", or the one misspelt key that must have meant it, which the schema reports.
std::string key_of_variables(const Tree& root) {
  std::string key = "vars";
  if (root.find(key) != nullptr) return key;
  for (const auto& [name, value] : root.members) {
    if (value.is_object() && edit_distance(name, "vars", 1) == 1) key = name;
  }
  return key;
}

class Substituter {
 public:
  Substituter(Tree& root, Diagnostics& diagnostics)
      : root_(root), diagnostics_(diagnostics), key_(key_of_variables(root)) {
    const Tree* vars = root.find(key_);
    if (vars == nullptr || !vars->is_object()) return;
    for (const auto& [name, value] : vars->members) {
      variables_.emplace(name, value);  // A copy: the tree changes under the references.
      names_.push_back(name);
    }
  }

  void run(std::span<const std::string> referenced) {
    for (auto& [key, member] : root_.members) {
      if (key != key_ && key != "$schema") visit(member, child_pointer("", key));
    }
    std::erase_if(root_.members, [](const auto& member) { return member.second.value.is_discarded(); });
    if (Tree* vars = root_.find(key_); vars != nullptr && vars->is_object()) {
      for (const auto& [name, value] : vars->members)
        forbid_nesting(value, child_pointer(child_pointer("", key_), name));
      report_unused(*vars, referenced);
    }
  }

 private:
  /// Replaces references below; a value that is to be taken out is marked as discarded.
  void visit(Tree& tree, const std::string& pointer) {
    if (tree.text() != nullptr) return replace(tree, pointer);
    for (auto& [key, member] : tree.members) visit(member, child_pointer(pointer, key));
    for (std::size_t i = 0; i < tree.elements.size(); ++i) visit(tree.elements[i], child_pointer(pointer, i));
    std::erase_if(tree.members, [](const auto& member) { return member.second.value.is_discarded(); });
    std::erase_if(tree.elements, [](const Tree& element) { return element.value.is_discarded(); });
  }

  void replace(Tree& tree, const std::string& pointer) {
    const std::string text = *tree.text();
    const std::optional<Reference> first = next_reference(text, 0);
    if (!first) return;
    if (first->begin == 0 && first->end == text.size()) {
      const Tree* variable = look_up(*first, tree, pointer);
      if (variable == nullptr || !spend(count_values(*variable), tree, pointer)) {
        tree.value = Json(Json::value_t::discarded);
      } else {
        take(tree, *variable, std::string(*variable_name(*first)));
      }
      return;
    }
    embed(tree, text, pointer);
  }

  /// The tree becomes the variable's value; its place stays, and the variable's is kept beside it.
  static void take(Tree& tree, const Tree& variable, const std::string& name) {
    const Origin place = tree.origin;
    tree = variable;
    mark(tree, place, name);
    tree.origin.key = place.key;
  }

  static void mark(Tree& tree, const Origin& place, const std::string& name) {
    tree.origin.kind = place.kind;
    tree.origin.variable = name;
    tree.origin.variable_value = tree.origin.value;
    tree.origin.value = place.value;
    for (auto& [key, member] : tree.members) mark(member, place, name);
    for (Tree& element : tree.elements) mark(element, place, name);
  }

  void embed(Tree& tree, const std::string& text, const std::string& pointer) {
    std::string out;
    std::size_t from = 0;
    bool whole = true;
    std::optional<Origin> first_origin;
    std::string first_name;
    while (const std::optional<Reference> reference = next_reference(text, from)) {
      out.append(text, from, reference->begin - from);
      from = reference->end;
      const Tree* variable = look_up(*reference, tree, pointer);
      if (variable == nullptr) {
        whole = false;
        continue;
      }
      if (variable->is_object() || variable->is_array()) {
        report(tree, pointer, "bad-reference",
               fmt::format("{} is {}, which cannot be part of a text", reference_to(*variable_name(*reference)),
                           describe_value(variable->value)),
               "use it alone, as the whole string");
        whole = false;
        continue;
      }
      const std::string* inner = variable->text();
      out += inner != nullptr ? *inner : variable->value.dump();
      if (!first_origin) {
        first_origin = variable->origin;
        first_name = *variable_name(*reference);
        // A path that begins with a variable counts from where the variable is written.
        if (reference->begin == 0) tree.origin.folder = variable->origin.folder;
      }
    }
    out.append(text, from);
    if (!whole || !spend(1 + out.size() / 64, tree, pointer)) {
      tree.value = Json(Json::value_t::discarded);
      return;
    }
    tree.value = std::move(out);
    tree.origin.variable = std::move(first_name);
    if (first_origin) tree.origin.variable_value = first_origin->value;
  }

  const Tree* look_up(const Reference& reference, const Tree& tree, const std::string& pointer) {
    const std::optional<std::string_view> name = variable_name(reference);
    const std::string inside(reference.inside);
    if (!name) {
      const std::string meant = variable_meant(inside);
      report(tree, pointer, "bad-reference",
             reference.closed ? fmt::format("${{{}}} is no reference", inside) : "a reference is not closed",
             !reference.closed ? "write } behind the name"
             : meant.empty()   ? "references are written ${vars.name}"
                               : fmt::format("did you mean {}?", reference_to(meant)));
      return nullptr;
    }
    const auto found = variables_.find(std::string(*name));
    if (found != variables_.end()) return &found->second;
    const std::string meant = nearest_variable(std::string(*name));
    std::string label = meant.empty() ? std::string() : fmt::format("did you mean {}?", reference_to(meant));
    Diagnostic diagnostic =
        diagnostic_at(tree, pointer, "unknown-variable", fmt::format("there is no variable {}", core::quoted(*name)));
    diagnostic.notes = {names_.empty() ? "the pipeline has no vars" : fmt::format("vars: {}", fmt::join(names_, ", "))};
    if (!meant.empty() && tree.origin.value.text() == fmt::format("\"{}\"", reference_to(*name))) {
      diagnostic.suggestion = {tree.origin.value, fmt::format("\"{}\"", reference_to(meant)),
                               is_slip(*name, meant) ? Applicability::kSafe : Applicability::kMaybe};
    }
    diagnostic.label = std::move(label);
    diagnostics_.add(std::move(diagnostic));
    return nullptr;
  }

  /// What "${epochs}" or "${var.epochs}" means.
  std::string variable_meant(const std::string& inside) {
    const std::size_t dot = inside.find('.');
    const bool prefixed = dot != std::string::npos && edit_distance(inside.substr(0, dot), "vars", 1) <= 1;
    std::string name = prefixed ? inside.substr(dot + 1) : inside;
    if (!variables_.contains(name)) return nearest_variable(name);
    suggested_.insert(name);
    return name;
  }

  std::string nearest_variable(std::string_view name) {
    const std::optional<std::string> found = nearest(name, names_);
    if (!found) return {};
    suggested_.insert(*found);
    return *found;
  }

  /// Counts what references expand to, so that a small file cannot fill the memory.
  bool spend(std::size_t values, const Tree& tree, const std::string& pointer) {
    if (expanded_ > kMostExpandedValues) return false;
    expanded_ += values;
    if (expanded_ <= kMostExpandedValues) return true;
    report(tree, pointer, "bad-reference", fmt::format("references expand to more than {} values", kMostExpandedValues),
           "");
    return false;
  }

  void forbid_nesting(const Tree& tree, const std::string& pointer) {
    const std::string* text = tree.text();
    if (text != nullptr && text->find(kOpening) != std::string::npos) {
      report(tree, pointer, "nested-variable", "a variable cannot refer to another", "write the value itself");
    }
    for (const auto& [key, member] : tree.members) forbid_nesting(member, child_pointer(pointer, key));
    for (std::size_t i = 0; i < tree.elements.size(); ++i) forbid_nesting(tree.elements[i], child_pointer(pointer, i));
  }

  void report_unused(const Tree& vars, std::span<const std::string> referenced) {
    const std::unordered_set<std::string_view> used(referenced.begin(), referenced.end());
    for (const auto& [name, value] : vars.members) {
      if (used.contains(name) || suggested_.contains(name)) continue;
      Diagnostic diagnostic = diagnostic_at(value, child_pointer("/vars", name), "unused-variable",
                                            fmt::format("the variable {} is never used", core::quoted(name)));
      diagnostic.severity = Severity::kWarning;
      if (value.origin.key) diagnostic.span = value.origin.key;
      diagnostic.label = fmt::format("refer to it as \"{}\", or remove it", reference_to(name));
      diagnostics_.add(std::move(diagnostic));
    }
  }

  void report(const Tree& tree, const std::string& pointer, std::string code, std::string message, std::string label) {
    Diagnostic diagnostic = diagnostic_at(tree, pointer, std::move(code), std::move(message));
    diagnostic.label = std::move(label);
    diagnostics_.add(std::move(diagnostic));
  }

  Tree& root_;
  Diagnostics& diagnostics_;
  std::string key_;
  std::unordered_map<std::string, Tree> variables_;
  std::vector<std::string> names_;
  std::unordered_set<std::string> suggested_;
  std::size_t expanded_ = 0;
};

}  // namespace

void collect_references(const Tree& tree, std::vector<std::string>& names) {
  if (const std::string* text = tree.text()) {
    for (auto reference = next_reference(*text, 0); reference; reference = next_reference(*text, reference->end)) {
      if (const auto name = variable_name(*reference)) names.emplace_back(*name);
    }
  }
  for (const auto& [key, member] : tree.members) collect_references(member, names);
  for (const Tree& element : tree.elements) collect_references(element, names);
}

void substitute_variables(Tree& root, std::span<const std::string> referenced, Diagnostics& diagnostics) {
  Substituter(root, diagnostics).run(referenced);
}

}  // namespace tenon::core
