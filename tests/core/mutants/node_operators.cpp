// References, nodes and units.
#include <algorithm>
#include <array>
#include <variant>

#include <fmt/format.h>

#include <core/mutants/operators.hpp>
#include <core/units.hpp>

namespace tenon::core::testing {
namespace {

std::string before_dot(const std::string& text) { return text.substr(0, text.find('.')); }

std::vector<std::string> node_names(const Base& base) {
  std::vector<std::string> names;
  const Json* const nodes = find_value(base.value(), "/nodes");
  if (nodes == nullptr) return names;
  for (const auto& [name, node] : nodes->items()) names.push_back(name);
  return names;
}

/// Texts that name a node: where the file lets one stand, not in parameters.
std::vector<Token> references(const Base& base) {
  std::vector<Token> found;
  for (const Token& token : base.tokens()) {
    if (token.is_key || !token.is_string || token.pointer == "/name") continue;
    const std::vector<std::string> segments = split_pointer(token.pointer);
    const bool parameter = std::find(segments.begin(), segments.end(), "with") != segments.end();
    const std::string node = before_dot(base.word(token));
    if (!parameter && segments.back() != "use" && (!base.kind_of(node).empty() || node == "batch")) {
      found.push_back(token);
    }
  }
  return found;
}

/// Kinds between which a reference may be exchanged: datasets and transforms stand for streams alike.
std::string role(const std::string& kind) { return kind == "transform" ? "dataset" : kind; }

std::optional<Mutant> unknown_reference(Base& base, Random& random) {
  const std::vector<Token> all = references(base);
  if (all.empty()) return std::nullopt;
  const Token& token = draw_from(all, random);
  const std::string word = base.word(token);
  const std::size_t dot = word.find('.');
  const std::string node = before_dot(word);
  const std::array<std::string, 3> others{"zq" + word, node + "_2" + word.substr(node.size()),
                                          dot == std::string::npos ? word + ".zq" : node + ".zq"};
  const std::size_t which = draw(others.size(), random);
  Mutant mutant = respelt(base, token, others[which]);
  mutant.what = fmt::format("{} is {}", token.pointer, others[which]);
  // What a node of open types gives is known only once it is made.
  const Built built = base.build(base.text());
  const Node* const source = built.graph ? built.graph->find(node) : nullptr;
  const bool open = source != nullptr ? source->open : base.is_free(token, token.end);
  if (which == 2 && dot != std::string::npos && open) mutant.fate = Fate::kLegalValue;
  return mutant;
}

std::optional<Mutant> reference_of_another_kind(Base& base, Random& random) {
  const std::vector<Token> all = references(base);
  const std::vector<std::string> names = node_names(base);
  if (all.empty()) return std::nullopt;
  const Token& token = draw_from(all, random);
  const std::string word = base.word(token);
  const std::string& other = draw_from(names, random);
  const std::string kind = base.kind_of(before_dot(word));
  const bool wire = word.find('.') != std::string::npos;
  if (kind == "" || role(base.kind_of(other)) == role(kind)) return std::nullopt;
  // A wire may come from whatever gives tensors of that name.
  if (wire && base.kind_of(other) == "model") return std::nullopt;
  Mutant mutant = respelt(base, token, other + word.substr(before_dot(word).size()));
  mutant.what = fmt::format("{} is {}", token.pointer, other);
  return mutant;
}

const Member* member_of(const Base& base, const std::string& name) {
  const std::string pointer = child_pointer("/nodes", name);
  const auto found = std::find_if(base.members().begin(), base.members().end(),
                                  [&](const Member& member) { return member.pointer == pointer; });
  return found == base.members().end() ? nullptr : &*found;
}

/// Where the lack of a node shows: where it is named, at what it refers to, and at the sections that need one of its kind.
void add_lines_of_lack(Mutant& mutant, const Base& base, const std::string& name) {
  const auto add = [&](const std::string& word) {
    for (const std::size_t line : base.lines_of_uses(mutant.text, word)) mutant.lines.push_back(line);
  };
  add(name);
  const Json& node = *find_value(base.value(), child_pointer("/nodes", name));
  for (const char* const key : {"/of", "/in"}) {
    const Json* const targets = find_value(node, key);
    if (targets == nullptr) continue;
    for (const Json& target : targets->is_structured() ? *targets : Json::array({*targets})) {
      if (target.is_string()) add(before_dot(target.get<std::string>()));
    }
  }
}

/// The text without [begin, end) and one comma beside it.
std::string without(const std::string& text, std::size_t begin, std::size_t end) {
  const std::size_t next = text.find_first_not_of(" \t\r\n", end);
  if (next != std::string::npos && text[next] == ',') return text.substr(0, begin) + text.substr(next + 1);
  const std::size_t before = text.find_last_not_of(" \t\r\n", begin - 1);
  const std::size_t from = text[before] == ',' ? before : begin;
  return text.substr(0, from) + text.substr(end);
}

std::optional<Mutant> delete_node(Base& base, Random& random) {
  const std::vector<std::string> names = node_names(base);
  const std::string& name = draw_from(names, random);
  const Member* const member = member_of(base, name);
  if (member == nullptr) return std::nullopt;
  Mutant mutant;
  mutant.text = without(base.text(), member->begin, member->end);
  mutant.what = fmt::format("without {}", name);
  // Nobody misses it: the pipeline without it is another one.
  if (!base.is_referred_to(name)) mutant.fate = Fate::kLegalValue;
  add_lines_of_lack(mutant, base, name);
  return mutant;
}

std::optional<Mutant> rename_node(Base& base, Random& random) {
  const std::vector<std::string> names = node_names(base);
  const std::string& name = draw_from(names, random);
  const Member* const member = member_of(base, name);
  if (member == nullptr) return std::nullopt;
  Mutant mutant;
  mutant.text = base.text();
  mutant.text.replace(member->begin + 1, name.size(), name + "_zq");
  mutant.what = fmt::format("{} renamed", name);
  // Under its new name it is no longer laid over the node of a base, and lacks what that one says.
  if (base.value().contains("extends")) mutant.lines.push_back(Source("", mutant.text).line_of(member->begin));
  if (!base.is_referred_to(name)) mutant.fate = Fate::kLegalValue;
  add_lines_of_lack(mutant, base, name);
  return mutant;
}

/// The order in the file does not matter.
std::optional<Mutant> reorder_nodes(Base& base, Random& random) {
  const std::vector<std::string> names = node_names(base);
  const Member* first = member_of(base, draw_from(names, random));
  const Member* second = member_of(base, draw_from(names, random));
  if (first == nullptr || second == nullptr || first == second) return std::nullopt;
  if (first->begin > second->begin) std::swap(first, second);
  const std::string& text = base.text();
  Mutant mutant;
  mutant.text = text.substr(0, first->begin) + text.substr(second->begin, second->end - second->begin) +
                text.substr(first->end, second->begin - first->end) +
                text.substr(first->begin, first->end - first->begin) + text.substr(second->end);
  mutant.what = fmt::format("{} and {} exchanged", first->pointer, second->pointer);
  mutant.fate = Fate::kSame;
  return mutant;
}

std::optional<Mutant> node_outside(Base& base, Random& random) {
  const std::vector<std::string> names = node_names(base);
  const Member* const member = member_of(base, draw_from(names, random));
  if (member == nullptr) return std::nullopt;
  const std::string node = base.text().substr(member->begin, member->end - member->begin);
  const std::string name = last_segment(member->pointer);
  Mutant mutant;
  mutant.text = without(base.text(), member->begin, member->end);
  const std::size_t at = mutant.text.find('{') + 1;
  mutant.text.insert(at, " " + node + ",");
  mutant.what = fmt::format("{} outside of nodes", name);
  mutant.lines = {Source("", mutant.text).line_of(at)};
  add_lines_of_lack(mutant, base, name);
  return mutant;
}

std::optional<Mutant> change_unit(Base& base, Random& random) {
  constexpr std::array kKinds{UnitKind::kSpan, UnitKind::kTime, UnitKind::kBytes};
  const Token& token = draw_from(base.tokens(), random);
  const std::string word = base.word(token);
  if (token.is_key || !token.is_string || base.is_free(token, token.begin)) return std::nullopt;
  const auto parsed = parse_quantity(word, kKinds);
  const std::size_t blank = word.find(' ');
  if (!std::holds_alternative<Quantity>(parsed) || blank == std::string::npos) return std::nullopt;
  const bool bytes = std::holds_alternative<Quantity>(parse_quantity(word, std::array{UnitKind::kBytes}));
  static const std::vector<std::string> kNone{"parsecs", "epoch steps", "%", "", "1", "epo chs"};
  static const std::vector<std::string> kOfBytes{"steps", "epochs", "minutes"};
  static const std::vector<std::string> kOfTime{"GiB", "bytes", "MB"};
  const std::string& unit =
      draw(2, random) == 0 ? draw_from(kNone, random) : draw_from(bytes ? kOfBytes : kOfTime, random);
  Mutant mutant = respelt(base, token, word.substr(0, blank + 1) + unit);
  mutant.fate = Fate::kError;
  mutant.what = fmt::format("{} is \"{}{}\"", token.pointer, word.substr(0, blank + 1), unit);
  return mutant;
}

}  // namespace

std::vector<NamedOperator> node_operators() {
  return {{"a reference to nobody", unknown_reference},
          {"a reference to another kind", reference_of_another_kind},
          {"a node deleted", delete_node},
          {"a node renamed", rename_node},
          {"two nodes exchanged", reorder_nodes},
          {"a node outside of nodes", node_outside},
          {"a unit changed", change_unit}};
}

}  // namespace tenon::core::testing
