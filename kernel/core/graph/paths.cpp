// The paths of a pipeline: what each phase of fit, each validation, test and predict reaches.
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <core/graph/stages.hpp>
#include <core/json/pointer.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

constexpr std::array<std::string_view, 1> kLoader{"loader"};
constexpr std::array<std::string_view, 1> kEnds{"transform"};
constexpr std::array<std::string_view, 1> kLoss{"loss"};
constexpr std::array<std::string_view, 1> kMetric{"metric"};
constexpr std::array<std::string_view, 1> kOptimizer{"optimizer"};
constexpr std::array<std::string_view, 1> kPrecision{"precision"};

/// "fit.data" in quotes, for /fit/data.
std::string named(const std::string& pointer) { return core::quoted(dotted_path(pointer)); }

class PathBuilder {
 public:
  explicit PathBuilder(Draft& draft)
      : draft_(draft), ranks_(draft.nodes.size(), draft.nodes.size()), seen_(draft.nodes.size(), 0) {
    for (std::size_t i = 0; i < draft.order.size(); ++i) ranks_[draft.order[i]] = i;
  }

  void build() {
    if (is_object("/fit")) build_fit();
    build_validations();
    if (is_object("/test")) {
      draft_.test = make("test", find_end("/test/data"), {}, read_metrics("/test/metrics"));
      draft_.test->path.limit = read_count("/test/limit");
    }
    if (is_object("/predict")) {
      draft_.outputs = read_outputs(draft_);
      std::vector<NodeId> roots;
      for (const DraftOutput& output : draft_.outputs) {
        if (output.wire.source) roots.push_back(*output.wire.source);
      }
      draft_.predict = make("predict", find_end("/predict/data"), std::move(roots), {});
    }
  }

 private:
  [[nodiscard]] bool is_object(const std::string& pointer) const {
    const Json* const value = draft_.resolved.find(pointer);
    return value != nullptr && value->is_object();
  }

  [[nodiscard]] std::optional<int64_t> read_count(const std::string& pointer) const {
    const Json* const value = draft_.resolved.find(pointer);
    return value != nullptr && value->is_number_integer() ? std::optional(value->get<int64_t>()) : std::nullopt;
  }

  /// All nodes that the roots read, directly or not, in the order of the graph.
  [[nodiscard]] std::vector<NodeId> closure(std::vector<NodeId> roots) {
    ++walks_;
    std::vector<NodeId> reached;
    while (!roots.empty()) {
      const NodeId id = roots.back();
      roots.pop_back();
      if (std::exchange(seen_[id], walks_) == walks_) continue;
      reached.push_back(id);
      const std::vector<NodeId>& feeds = draft_.nodes[id].feeds;
      roots.insert(roots.end(), feeds.begin(), feeds.end());
    }
    // Nodes on a circle have no rank.
    std::erase_if(reached, [&](NodeId id) { return ranks_[id] == draft_.nodes.size(); });
    std::sort(reached.begin(), reached.end(), [&](NodeId a, NodeId b) { return ranks_[a] < ranks_[b]; });
    return reached;
  }

  [[nodiscard]] std::vector<std::string> names_of(const std::vector<NodeId>& ids) const {
    std::vector<std::string> names;
    std::transform(ids.begin(), ids.end(), std::back_inserter(names),
                   [&](NodeId id) { return draft_.nodes[id].node.name; });
    return names;
  }

  [[nodiscard]] DraftPath make(std::string name, std::optional<NodeId> end, std::vector<NodeId> roots,
                               std::vector<NodeId> metrics) {
    DraftPath path;
    path.path.name = std::move(name);
    path.end = end;
    if (path.end) {
      path.path.data = draft_.nodes[*path.end].node.name;
      path.stream = closure({*path.end});
      for (const NodeId id : path.stream) {
        if (draft_.nodes[id].node.kind == "loader") path.path.loader = draft_.nodes[id].node.name;
      }
    }
    roots.insert(roots.end(), metrics.begin(), metrics.end());
    path.step = closure(std::move(roots));
    path.metrics = std::move(metrics);
    path.path.stream = names_of(path.stream);
    path.path.step = names_of(path.step);
    path.path.metrics = names_of(path.metrics);
    return path;
  }

  /// The end of a stream that the text at `pointer` names: a loader, or what transforms its batches.
  std::optional<NodeId> find_end(const std::string& pointer) {
    const Json* const data = draft_.resolved.find(pointer);
    if (data == nullptr || !data->is_string()) return std::nullopt;
    const std::string name = data->get<std::string>();
    const DraftNode* const node = draft_.find(name);
    if (node != nullptr && works_on_batches(*node)) return draft_.refer(pointer, name, {named(pointer)}, kEnds);
    if (node != nullptr && node->behind_loader) return std::nullopt;  // told where it stands behind the loader
    if (node != nullptr && (node->node.kind == "dataset" || node->node.kind == "transform")) {
      const NodeId id = draft_.index.at(name);
      Diagnostic diagnostic =
          draft_.at_value(pointer, "wrong-kind",
                          fmt::format("{} needs the loader at the end of a stream, but {} is {}", named(pointer),
                                      core::quoted(name), with_article(node->node.kind)));
      std::vector<std::string> behind;
      for (const DraftNode& each : draft_.nodes) {
        const bool reads = std::find(each.feeds.begin(), each.feeds.end(), id) != each.feeds.end();
        if (reads && each.node.kind == "loader") behind.push_back(each.node.name);
      }
      if (behind.size() == 1) draft_.propose(diagnostic, behind.front());
      draft_.point_at(diagnostic, id, node->node.use());
      draft_.add(std::move(diagnostic));
      return std::nullopt;
    }
    return draft_.refer(pointer, name, {named(pointer)}, kLoader);
  }

  // Fit ---------------------------------------------------------------------------------------------------------------------

  using Losses = std::vector<std::pair<NodeId, double>>;

  [[nodiscard]] Losses read_losses(const std::string& pointer) {
    Losses losses;
    const Json* const loss = draft_.resolved.find(pointer);
    if (loss == nullptr) return losses;
    const auto add = [&](const std::string& place, const std::string& name, double weight, bool is_key) {
      if (const auto id = draft_.refer(place, name, {named(pointer)}, kLoss, is_key)) losses.emplace_back(*id, weight);
    };
    if (loss->is_string()) add(pointer, loss->get<std::string>(), 1.0, false);
    if (loss->is_object()) {
      for (const auto& [name, weight] : loss->items()) {
        if (weight.is_number()) add(child_pointer(pointer, name), name, weight.get<double>(), true);
      }
    }
    std::sort(losses.begin(), losses.end());  // ids follow names
    return losses;
  }

  [[nodiscard]] static std::vector<NodeId> ids_of(const Losses& losses) {
    std::vector<NodeId> ids;
    std::transform(losses.begin(), losses.end(), std::back_inserter(ids), [](const auto& loss) { return loss.first; });
    return ids;
  }

  void build_fit() {
    const std::optional<NodeId> end = find_end("/fit/data");
    const Json* const phases = draft_.resolved.find("/fit/phases");
    const bool has_loss = draft_.resolved.find("/fit/loss") != nullptr;
    if (phases != nullptr && has_loss) {
      Diagnostic diagnostic = draft_.at_key("/fit/phases", "conflict", "fit has both \"loss\" and \"phases\"");
      diagnostic.label = "each phase has a loss of its own: remove \"loss\"";
      draft_.add(std::move(diagnostic));
    }
    if (phases == nullptr && !has_loss && !draft_.may_hide_keys("/fit")) {
      Diagnostic diagnostic =
          draft_.resolved.error_at_missing("/fit", "loss", "missing-key", "fit needs the key \"loss\", or \"phases\"");
      if (diagnostic.label.empty()) diagnostic.label = "add \"loss\" with the name of a loss node";
      draft_.add(std::move(diagnostic));
    }
    std::vector<NodeId> roots;
    if (phases != nullptr && phases->is_array()) {
      for (std::size_t i = 0; i < phases->size(); ++i) {
        if ((*phases)[i].is_object()) read_phase(child_pointer("/fit/phases", i), (*phases)[i], end);
      }
      check_phases();
    } else if (phases == nullptr) {
      DraftPhase only;
      only.pointer = "/fit";
      only.losses = read_losses("/fit/loss");
      only.path = make("fit", end, ids_of(only.losses), {});
      only.path.path.limit = read_count("/fit/limit");
      draft_.phases.push_back(std::move(only));
    }
    for (const DraftPhase& phase : draft_.phases) {
      if (phase.own_data) continue;
      const std::vector<NodeId> ids = ids_of(phase.losses);
      roots.insert(roots.end(), ids.begin(), ids.end());
    }
    draft_.fit = make("fit", end, std::move(roots), {});
    draft_.fit->path.limit = read_count("/fit/limit");
    const Json* const precision = draft_.resolved.find("/fit/precision");
    if (precision != nullptr && precision->is_string()) {
      draft_.precision =
          draft_.refer("/fit/precision", precision->get<std::string>(), {"\"fit.precision\""}, kPrecision);
    }
  }

  void read_phase(const std::string& pointer, const Json& json, std::optional<NodeId> end) {
    DraftPhase phase;
    phase.pointer = pointer;
    const Json* const name = find_member(json, "name");
    phase.name = name != nullptr && name->is_string() ? name->get<std::string>() : last_segment(pointer);
    phase.losses = read_losses(pointer + "/loss");
    phase.own_data = find_member(json, "data") != nullptr;
    const Json* const optimizers = find_member(json, "optimizers");
    for (std::size_t i = 0; optimizers != nullptr && optimizers->is_array() && i < optimizers->size(); ++i) {
      const std::string place = child_pointer(pointer + "/optimizers", i);
      if (!(*optimizers)[i].is_string()) continue;
      const auto id = draft_.refer(place, (*optimizers)[i].get<std::string>(),
                                   {fmt::format("phase {}", core::quoted(phase.name))}, kOptimizer);
      if (id) phase.optimizers.emplace_back(*id, place);
    }
    phase.path =
        make("fit." + phase.name, phase.own_data ? find_end(pointer + "/data") : end, ids_of(phase.losses), {});
    if (!phase.own_data) phase.path.path.limit = read_count("/fit/limit");
    draft_.phases.push_back(std::move(phase));
  }

  void check_phases() {
    std::map<std::string, const DraftPhase*> first;
    for (const DraftPhase& phase : draft_.phases) {
      const auto [known, added] = first.try_emplace(phase.name, &phase);
      if (added) continue;
      Diagnostic diagnostic = draft_.at_value(phase.pointer + "/name", "duplicate",
                                              fmt::format("two phases are named {}", core::quoted(phase.name)));
      diagnostic.secondary.push_back({draft_.resolved.locate(known->second->pointer + "/name").value, "the other one"});
      draft_.add(std::move(diagnostic));
    }
    const bool reads_data = std::any_of(draft_.phases.begin(), draft_.phases.end(),
                                        [](const DraftPhase& phase) { return !phase.own_data; });
    if (reads_data || draft_.phases.empty()) return;
    Diagnostic diagnostic =
        draft_.at_value("/fit/data", "unused-data", "every phase has data of its own, so that none reads \"fit.data\"");
    diagnostic.label = "its passes are the epochs: leave out \"data\" in one of the phases";
    draft_.add(std::move(diagnostic));
  }

  // Validations -------------------------------------------------------------------------------------------------------------

  [[nodiscard]] std::vector<NodeId> read_metrics(const std::string& pointer) {
    std::vector<NodeId> found;
    const Json* const metrics = draft_.resolved.find(pointer);
    if (metrics == nullptr || !metrics->is_array()) return found;
    for (std::size_t i = 0; i < metrics->size(); ++i) {
      if (!(*metrics)[i].is_string()) continue;
      const std::string name = (*metrics)[i].get<std::string>();
      const std::optional<NodeId> id = draft_.refer(child_pointer(pointer, i), name, {named(pointer)}, kMetric);
      if (id && std::find(found.begin(), found.end(), *id) == found.end()) found.push_back(*id);
    }
    return found;
  }

  void build_validations() {
    const Json* const section = draft_.resolved.find("/validate");
    if (section == nullptr || !section->is_object()) return;
    // As in the schema: a map has no key of a validation, and holds validations.
    const bool is_map =
        !section->contains("data") && !section->contains("metrics") &&
        std::any_of(section->begin(), section->end(), [](const Json& each) { return each.is_object(); });
    std::vector<std::string> names;
    for (const auto& [name, value] : section->items()) {
      if (is_map && value.is_object()) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    if (!is_map) names.emplace_back();
    for (const std::string& name : names) {
      DraftValidation validation;
      validation.name = name;
      validation.pointer = is_map ? child_pointer("/validate", name) : "/validate";
      validation.path = make(names.size() > 1 ? "validate." + name : "validate", find_end(validation.pointer + "/data"),
                             {}, read_metrics(validation.pointer + "/metrics"));
      validation.path.path.limit = read_count(validation.pointer + "/limit");
      draft_.validations.push_back(std::move(validation));
    }
  }

  Draft& draft_;
  std::vector<std::size_t> ranks_;
  std::vector<std::size_t> seen_;  ///< The last walk that came by.
  std::size_t walks_ = 0;
};

}  // namespace

void build_paths(Draft& draft) { PathBuilder(draft).build(); }

}  // namespace tenon::core
