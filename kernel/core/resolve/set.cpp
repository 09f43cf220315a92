// Dotted paths and their values.
#include <core/resolve/set.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/json/reader.hpp>
#include <core/resolve/merge.hpp>
#include <core/resolve/variables.hpp>
#include <core/schema/annotations.hpp>
#include <core/schema/describe.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

struct Segment {
  std::string key;
  Span span;
};

/// The argument for a shell, with the value as a string of JSON.
std::string quoted_form(std::string_view path, std::string_view value) {
  return fmt::format("--set '{}={}'", path, Json(value).dump(-1, ' ', false, Json::error_handler_t::replace));
}

class Setter {
 public:
  Setter(Tree& root, const std::string& argument, const ParameterSchemas& parameters,
         std::vector<std::string>& references, Diagnostics& diagnostics)
      : root_(root),
        source_(std::make_shared<const Source>("--set", argument, Source::Kind::kArgument)),
        folder_(std::make_shared<const std::filesystem::path>()),
        parameters_(parameters),
        references_(references),
        diagnostics_(diagnostics) {}

  void apply() {
    if (!split()) return;
    std::optional<Tree> value = read();
    if (!value) return;
    Tree* holder = walk();
    if (holder != nullptr) put(*holder, std::move(*value));
  }

 private:
  [[nodiscard]] std::string_view text() const noexcept { return source_->text(); }

  [[nodiscard]] Diagnostic error(std::size_t begin, std::size_t end, std::string message, std::string label) const {
    return {.code = "bad-set",
            .message = std::move(message),
            .span = {source_, begin, end},
            .pointer = pointer_,
            .label = std::move(label)};
  }

  /// Takes the argument apart into the path's segments and the place of the value.
  bool split() {
    const std::size_t equals = text().find('=');
    if (equals == std::string_view::npos) {
      diagnostics_.add(error(0, text().size(), "--set needs a path, = and a value", "such as --set fit.accumulate=2"));
      return false;
    }
    value_begin_ = equals + 1;
    adds_ = text().substr(0, 1) == "+";
    std::size_t begin = adds_ ? 1 : 0;
    while (true) {
      const std::size_t end = std::min(text().find('.', begin), equals);
      if (begin == end) {
        diagnostics_.add(error(begin, end + 1, "a name is missing in the path",
                               "names stand between dots, as in nodes.opt.with.lr"));
        return false;
      }
      path_.push_back({std::string(text().substr(begin, end - begin)), {source_, begin, end}});
      pointer_ = child_pointer(pointer_, path_.back().key);
      if (end == equals) break;
      begin = end + 1;
    }
    if (path_.size() > kMaxJsonDepth) {
      diagnostics_.add(error(0, equals, fmt::format("the path has more than {} names", kMaxJsonDepth), ""));
      return false;
    }
    if (path_.front().key == "extends") {
      diagnostics_.add(error(path_.front().span.begin, path_.front().span.end, "extends is read before --set",
                             "use --overlay, or write it into the file"));
      return false;
    }
    return true;
  }

  std::optional<Tree> read() {
    Diagnostics syntax;
    const Document document = read_json(source_, syntax, {.begin = value_begin_, .pointer = pointer_});
    if (syntax.has_errors() || !document.usable()) {
      const std::string_view value = text().substr(value_begin_);
      Diagnostic diagnostic =
          error(value_begin_, text().size(), fmt::format("the value {} is not JSON", core::quoted(value)), "");
      const std::string_view path = text().substr(0, value_begin_ - 1);
      diagnostic.label = value.empty() ? "write null to delete, \"\" for an empty text"
                                       : fmt::format("for a text write {}", quoted_form(path, value));
      diagnostic.span.end = std::max(diagnostic.span.end, diagnostic.span.begin);
      if (!value.empty() && may_be_secret()) {
        diagnostic.message = "the value is not JSON, and is not shown: it may be a secret";
        diagnostic.label =
            fmt::format("a secret is named: --set '{}={{\"env\": \"NAME\"}}'; a text stands in quotes", path);
        diagnostic.hidden.push_back(diagnostic.span);
      }
      diagnostics_.add(std::move(diagnostic));
      return std::nullopt;
    }
    Tree tree = make_tree(document, LayerKind::kSet, folder_);
    tree.origin.key = path_.back().span;
    collect_references(tree, references_);
    return tree;
  }

  /// Whether the argument sets a secret, or something among the parameters of a component that nobody knows.
  [[nodiscard]] bool may_be_secret() const {
    if (!parameters_) return false;
    // Of components within components the innermost counts; without "with" the whole of a component is set.
    std::optional<bool> verdict;
    const Tree* holder = &root_;
    std::vector<std::string> names;
    for (const Segment& segment : path_) names.push_back(segment.key);
    for (std::size_t i = 0; i <= names.size(); ++i) {
      const Tree* const use = holder == nullptr ? nullptr : holder->find("use");
      const bool at_parameters = i < names.size() && names[i] == "with";
      if (at_parameters || (i == names.size() && use != nullptr)) {
        const Json* const schema = use != nullptr && use->text() != nullptr ? parameters_(*use->text()) : nullptr;
        const std::span<const std::string> place = std::span(names).subspan(std::min(i + 1, names.size()));
        if (use != nullptr || !verdict) verdict = schema == nullptr || may_hold_secret(*schema, place);
      }
      if (i < names.size() && holder != nullptr) holder = child(*holder, names[i]);
    }
    return verdict.value_or(false);
  }

  [[nodiscard]] static const Tree* child(const Tree& holder, const std::string& name) {
    if (!holder.is_array()) return holder.find(name);
    const std::optional<std::size_t> index = array_index(name);
    return index && *index < holder.elements.size() ? &holder.elements[*index] : nullptr;
  }

  /// The object or list that holds the path's last name. Objects that are missing on the way are made.
  Tree* walk() {
    Tree* holder = &root_;
    std::string pointer;
    for (std::size_t i = 0; i + 1 < path_.size(); ++i) {
      const std::string parent = pointer;
      pointer = child_pointer(pointer, path_[i].key);
      Tree* next = step(*holder, i, parent);
      if (next == nullptr) return nullptr;
      if (!next->is_object() && !next->is_array()) {
        diagnostics_.add(error(
            path_[i + 1].span.begin, path_[i + 1].span.end,
            fmt::format("{} is {} and holds nothing by name", dotted_path(pointer), describe_value(next->value)), ""));
        return nullptr;
      }
      holder = next;
    }
    return holder;
  }

  Tree* step(Tree& holder, std::size_t i, const std::string& parent) {
    const Segment& segment = path_[i];
    if (holder.is_array()) {
      const std::optional<std::size_t> index = array_index(segment.key);
      if (index && *index < holder.elements.size()) return &holder.elements[*index];
      report_index(holder, i, parent);
      return nullptr;
    }
    if (Tree* found = holder.find(segment.key)) return found;
    if (!may_add(holder, segment, parent)) return nullptr;
    Tree made{.value = Json::object()};
    made.origin.kind = LayerKind::kSet;
    made.origin.key = made.origin.value = segment.span;
    made.origin.folder = folder_;
    holder.members.emplace_back(segment.key, std::move(made));
    return &holder.members.back().second;
  }

  void put(Tree& holder, Tree value) {
    const Segment& last = path_.back();
    const std::string parent(parent_pointer(pointer_));
    if (holder.is_array()) return put_element(holder, std::move(value), parent);
    Tree* present = holder.find(last.key);
    if (value.is_null()) {
      if (present == nullptr && !may_add(holder, last, parent)) return;
      if (present == nullptr) {
        Tree layer{.value = Json::object()};
        layer.members.emplace_back(last.key, std::move(value));
        remove_nulls(layer, parent, StrayNull::kWarning, diagnostics_);
      } else {
        holder.erase(last.key);
        holder.deleted.emplace_back(last.key, std::move(value.origin));
      }
      return;
    }
    remove_nulls(value, pointer_, StrayNull::kError, diagnostics_);
    if (present == nullptr) {
      if (may_add(holder, last, parent)) holder.members.emplace_back(last.key, std::move(value));
      return;
    }
    const bool other_component = last.key == "use" && may_hold_component(parent) && present->value != value.value;
    *present = std::move(value);
    if (other_component) {
      holder.erase("with");
      holder.erase("groups");
    }
  }

  void put_element(Tree& list, Tree value, const std::string& parent) {
    const Segment& last = path_.back();
    const std::optional<std::size_t> index = array_index(last.key);
    const bool appends = adds_ && index == list.elements.size();
    if (!index || (*index >= list.elements.size() && !appends)) return report_index(list, path_.size() - 1, parent);
    if (value.is_null()) {
      if (!appends) list.elements.erase(list.elements.begin() + static_cast<std::ptrdiff_t>(*index));
      return;
    }
    remove_nulls(value, pointer_, StrayNull::kError, diagnostics_);
    value.origin.key = {};
    if (appends) {
      list.elements.push_back(std::move(value));
    } else {
      list.elements[*index] = std::move(value);
    }
  }

  /// New names need the plus sign in nodes and vars, where a misspelt one would otherwise add a node without effect.
  bool may_add(const Tree& holder, const Segment& segment, const std::string& parent) {
    if (adds_ || (parent != "/nodes" && parent != "/vars")) return true;
    std::vector<std::string> names;
    for (const auto& [key, member] : holder.members) names.push_back(key);
    Diagnostic diagnostic =
        error(segment.span.begin, segment.span.end,
              fmt::format("there is no {} {}", parent == "/nodes" ? "node" : "variable", core::quoted(segment.key)),
              did_you_mean(segment.key, names));
    diagnostic.code = "unknown-name";
    if (diagnostic.label.empty())
      diagnostic.label = fmt::format("to add it, begin the path with +: --set +{}", text().substr(0, value_begin_));
    diagnostics_.add(std::move(diagnostic));
    return false;
  }

  /// How to write the path to the element that has a name, or is a text, where the path has that name from its part `i`
  /// on, dots within it included; empty where there is none.
  [[nodiscard]] std::string hint_of_name(const Tree& list, std::size_t i, const std::string& parent) const {
    const std::string_view path = text().substr(0, value_begin_ - 1);
    for (std::size_t element = 0; element < list.elements.size(); ++element) {
      const Tree& each = list.elements[element];
      const Tree* const member = each.is_object() ? each.find("name") : &each;
      const std::string* const name = member == nullptr ? nullptr : member->text();
      if (name == nullptr) continue;
      const std::string_view from = path.substr(path_[i].span.begin);
      if (!from.starts_with(*name) || (from.size() > name->size() && from[name->size()] != '.')) continue;
      const std::string place = fmt::format("{}.{}", dotted_path(parent), element);
      const std::string_view rest = from.substr(name->size());
      if (each.is_object() || rest.empty()) return fmt::format("the element of that name is {}{}", place, rest);
      return fmt::format("{} is the text {} and holds nothing by name: set the whole of it", place,
                         core::quoted(*name));
    }
    return {};
  }

  void report_index(const Tree& list, std::size_t i, const std::string& parent) {
    const Segment& segment = path_[i];
    const std::size_t size = list.elements.size();
    std::string label = hint_of_name(list, i, parent);
    if (label.empty()) {
      label = size == 0 ? "it is empty" : fmt::format("its elements are 0 to {}", size - 1);
      if (!adds_) label += fmt::format("; +{}.{} adds one", dotted_path(parent), size);
    }
    Diagnostic diagnostic = error(
        segment.span.begin, segment.span.end,
        fmt::format("the list {} has no element {}", dotted_path(parent), core::quoted(segment.key)), std::move(label));
    diagnostic.code = "unknown-name";
    diagnostics_.add(std::move(diagnostic));
  }

  Tree& root_;
  SourcePtr source_;
  std::shared_ptr<const std::filesystem::path> folder_;
  const ParameterSchemas& parameters_;
  std::vector<std::string>& references_;
  Diagnostics& diagnostics_;
  std::vector<Segment> path_;
  std::string pointer_;
  std::size_t value_begin_ = 0;
  bool adds_ = false;
};

}  // namespace

void apply_set(Tree& root, const std::string& argument, const ParameterSchemas& parameters,
               std::vector<std::string>& references, Diagnostics& diagnostics) {
  Setter(root, argument, parameters, references, diagnostics).apply();
}

}  // namespace tenon::core
