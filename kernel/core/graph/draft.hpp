// The graph while it is being built: what the stages share, and how they report.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <core/graph/build.hpp>
#include <core/graph/graph.hpp>
#include <core/graph/value_type.hpp>
#include <core/plugin/catalogue.hpp>
#include <core/resolve/resolve.hpp>
#include <core/text/diagnostic.hpp>

namespace tenon::core {

using NodeId = std::size_t;

/// One field of a stream or one output of a step node.
struct TypedValue {
  std::string name;
  ValueType type;
  NodeId from = 0;  ///< The node that made it what it is.
};

/// A port with its own name: rules over "$parameter" are replaced by one each name.
struct NamedPort {
  std::string name;
  const Port* rule = nullptr;
};

struct DraftWire {
  Wire wire;
  std::string pointer;           ///< "/nodes/net/in/image"
  std::optional<NodeId> source;  ///< Empty for the batch, and for a source that is wrong.
  const Port* rule = nullptr;    ///< Null where the component's ports are open.
};

struct DraftNode {
  Node node;
  std::optional<NodeId> owner;  ///< The node whose component it uses again, where that could be found.
  bool disabled = false;
  bool known = false;          ///< The component is installed.
  Json parameters;             ///< What port rules may rely on: those of `with` that are surely meant so.
  const Json* json = nullptr;  ///< What the file says of it, defaults filled; never null behind `read_nodes`.
  bool reached = false;
  bool behind_loader = false;  ///< A stream that has a loader further up.
  std::vector<NamedPort> in;
  std::vector<NamedPort> out;
  bool in_open = true;   ///< There may be more inputs than `in` tells.
  bool out_open = true;  ///< There may be more outputs than `out`, or fields than `fields`, tell.
  std::vector<DraftWire> wires;
  std::vector<NodeId> feeds;       ///< Nodes that it reads, by `in`.
  std::vector<NodeId> targets;     ///< Nodes that it is attached to, by `of`.
  std::vector<TypedValue> fields;  ///< Data plane: the stream. Step plane: outputs on the first path.
};

/// A path under construction.
struct DraftPath {
  Path path;
  std::optional<NodeId> end;  ///< The last node of the stream: its loader, or what transforms its batches.
  std::vector<NodeId> stream;
  std::vector<NodeId> step;
  std::vector<NodeId> metrics;
};

struct DraftPhase {
  std::string name;     ///< Empty for the only phase of a `fit` that has none.
  std::string pointer;  ///< "/fit/phases/0", or "/fit".
  DraftPath path;
  std::vector<std::pair<NodeId, double>> losses;
  std::vector<std::pair<NodeId, std::string>>
      optimizers;  ///< As listed, with the pointer of each; empty without phases.
  bool own_data = false;
};

struct DraftValidation {
  std::string name;     ///< Empty for one without a name.
  std::string pointer;  ///< "/validate/clean", or "/validate".
  DraftPath path;
};

struct DraftOutput {
  PredictedOutput output;
  DraftWire wire;
  std::string as_pointer;  ///< Where the file says its form.
};

/// Values of `kind` that take part in the data plane, the step plane.
[[nodiscard]] bool is_data_kind(std::string_view kind) noexcept;
[[nodiscard]] bool is_step_kind(std::string_view kind) noexcept;

/// "a model", "an optimizer".
[[nodiscard]] std::string with_article(std::string_view kind);

/// "models", "losses"
[[nodiscard]] std::string plural(std::string_view kind);

/// "a, b, c, … (20 more)", or "none".
[[nodiscard]] std::string list_names(std::span<const std::string> names);

/// Who refers to a node: `optimizer "opt"`, `"fit.data"`.
struct Referrer {
  std::string who;
  bool disabled = false;  ///< It may refer to disabled nodes.
};

class Draft {
 public:
  Draft(Resolved& merged, const Catalogue& installed, const Diagnostics& earlier, Diagnostics& found);

  Resolved& resolved;
  const Catalogue& catalogue;
  GraphRules rules;
  std::vector<DraftNode> nodes;  ///< By name.
  std::unordered_map<std::string, NodeId> index;
  std::vector<NodeId> order;                 ///< All nodes, each behind what it refers to.
  std::optional<DraftPath> fit;              ///< All phases without data of their own.
  std::vector<DraftPhase> phases;            ///< At least one where there is a fit.
  std::vector<DraftValidation> validations;  ///< By name.
  std::optional<DraftPath> test;
  std::optional<DraftPath> predict;
  std::vector<DraftOutput> outputs;  ///< Of predict.
  std::optional<NodeId> precision;
  std::optional<NodeId> distributed;
  std::vector<NodeId> exports;
  std::vector<Attached> stop;
  std::vector<Attached> observe;

  /// An error at a value or key, to be completed and handed to `add`.
  [[nodiscard]] Diagnostic at_value(std::string_view pointer, std::string code, std::string message) const;
  [[nodiscard]] Diagnostic at_key(std::string_view pointer, std::string code, std::string message) const;

  /// Proposes a text for the place of the error: label and suggestion. Where a variable stands for the value, its text
  /// is what would change.
  void propose(Diagnostic& diagnostic, const std::string& text) const;

  /// Proposes the candidate nearest to `name`, where one is near, and returns it. Past many errors nothing is proposed,
  /// so that a long file that is all wrong is still checked in linear time.
  std::optional<std::string> propose_nearest(Diagnostic& diagnostic, std::string_view name,
                                             std::span<const std::string> candidates);

  /// For a finding at the key of a node that lacks something: proposes the node of a lower layer that it may have been
  /// meant to change, where one has nearly its name; `otherwise` stays the advice if not.
  void propose_lower_node(Diagnostic& diagnostic, NodeId id, const std::string& otherwise);

  /// Marks a node as a secondary place.
  void point_at(Diagnostic& diagnostic, NodeId id, std::string text) const;

  /// Reports, unless an earlier stage told an error at the same value.
  void add(Diagnostic diagnostic);

  /// Reports those of `findings` that no earlier stage has told.
  void append(const Diagnostics& findings);

  /// An error was found at or below the pointer, in this stage or before.
  [[nodiscard]] bool has_error_under(std::string_view pointer) const;

  /// An earlier stage told an error at this very value.
  [[nodiscard]] bool was_told(const std::string& pointer) const { return told_.contains(pointer); }

  /// Any error, of this stage or before.
  [[nodiscard]] bool has_errors() const noexcept { return earlier_.has_errors() || found_.has_errors(); }

  /// True while nothing wrong could be the reason why a node or a link seems to be missing.
  [[nodiscard]] bool links_are_whole() const noexcept { return !links_broken_; }

  /// An earlier error at a key of the object at `pointer`, or in the syntax, may be why a key seems to be missing there.
  [[nodiscard]] bool may_hide_keys(const std::string& pointer) const;

  /// The node of one of `kinds` that `name`, written at `pointer` (as a key there, or as the value), means. Reports an
  /// unknown name, a wrong kind, a disabled node; then gives the node that was likely meant, or nothing.
  std::optional<NodeId> refer(std::string_view pointer, const std::string& name, const Referrer& referrer,
                              std::span<const std::string_view> kinds, bool is_key = false);

  /// Reports a reference to a disabled node.
  void refuse_disabled(Diagnostic diagnostic, const Referrer& referrer, NodeId id);

  [[nodiscard]] const DraftNode* find(std::string_view name) const;

  /// The node whose component a node uses: itself, but for a call.
  [[nodiscard]] NodeId owner_of(NodeId id) const { return nodes[id].owner.value_or(id); }

  /// Each phase, validation, test and predict.
  [[nodiscard]] std::vector<DraftPath*> paths();

  /// `model "net"`
  [[nodiscard]] std::string title(NodeId id) const;

  /// Names of all nodes of these kinds (of all kinds when there are none), sorted. Kinds are known behind `read_nodes`,
  /// and so each answer is kept.
  [[nodiscard]] const std::vector<std::string>& names_of(std::span<const std::string_view> kinds);

  /// "batch" and all nodes that give tensors. The answer is kept.
  [[nodiscard]] const std::vector<std::string>& tensor_sources();

 private:
  void note_broken_links(const Diagnostic& diagnostic);

  const Diagnostics& earlier_;
  Diagnostics& found_;
  std::unordered_set<std::string> told_;                   ///< Pointers of earlier errors.
  std::unordered_set<std::string> told_parents_;           ///< The objects in which those stand.
  std::unordered_set<std::string> places_;                 ///< Pointers of all errors, and their ancestors.
  std::map<std::string, std::vector<std::string>> names_;  ///< By kinds.
  std::vector<std::string> tensor_sources_;
  std::size_t proposals_ = 0;
  bool links_broken_ = false;
};

}  // namespace tenon::core
