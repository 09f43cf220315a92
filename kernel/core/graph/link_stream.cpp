// The data plane: a stream from each node that `in` names.
#include <array>
#include <optional>

#include <fmt/format.h>

#include <core/graph/linker.hpp>
#include <core/graph/stages.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

constexpr std::array<std::string_view, 2> kSamples{"dataset", "transform"};
constexpr std::array<std::string_view, 2> kBatches{"loader", "transform"};

class StreamLinker final : Linker {
 public:
  using Linker::Linker;

  void link() {
    const std::string& kind = each_.node.kind;
    const Json* const in = member("in");
    const bool wants_datasets = kind == "dataset" && (each_.in_open || !each_.in.empty());
    if (in == nullptr) {
      const bool needs_none = kind == "dataset" && each_.in.empty();
      if (needs_none) return;
      missing("in", fmt::format("{} has no input", referrer_.who),
              kind == "dataset" ? "add \"in\" with the name of a dataset or transform, or of several"
                                : "add \"in\" with the name of a dataset or transform");
      return;
    }
    const std::string pointer = at("in");
    if (in->is_object()) {
      Diagnostic diagnostic =
          draft_.at_value(pointer, "wrong-plane", fmt::format("{} reads a stream, not tensors by port", referrer_.who));
      diagnostic.label = "write the name of a node: \"in\": \"…\"";
      draft_.add(std::move(diagnostic));
      return;
    }
    if (kind == "dataset" && !wants_datasets) {
      Diagnostic diagnostic =
          draft_.at_key(pointer, "misplaced-key", fmt::format("{} reads no other dataset", referrer_.who));
      diagnostic.label = "remove \"in\"";
      draft_.add(std::move(diagnostic));
      return;
    }
    const auto sources = texts_at(*in, pointer);
    if (kind != "dataset" && in->is_array() && in->size() != 1) {
      draft_.add(draft_.at_value(pointer, "wrong-type",
                                 fmt::format("{} reads one stream, not {}", referrer_.who, in->size())));
    }
    for (const auto& [place, name] : sources) follow(place, name);
  }

 private:
  void follow(const std::string& place, const std::string& name) {
    const DraftNode* const source = draft_.find(name);
    if (source != nullptr && !source->node.kind.empty() && !is_data_kind(source->node.kind)) {
      Diagnostic diagnostic = draft_.at_value(place, "wrong-plane",
                                              fmt::format("{} reads a stream, but {} is {}", referrer_.who,
                                                          core::quoted(name), with_article(source->node.kind)));
      diagnostic.label = "name a dataset or transform";
      draft_.point_at(diagnostic, draft_.index.at(name), source->node.use());
      draft_.add(std::move(diagnostic));
      return;
    }
    const bool gives_batches = source != nullptr && is_behind_loader(*source);
    if (gives_batches && !works_on_batches(each_)) {
      report_behind_loader(place, name);
      return;
    }
    if (works_on_batches(each_)) {
      if (source != nullptr && !source->node.kind.empty() && !gives_batches && !works_on_batches(*source)) {
        report_before_loader(place, name);
        return;
      }
      each_.behind_loader = true;
    }
    const std::optional<NodeId> found =
        draft_.refer(place, name, referrer_, works_on_batches(each_) ? kBatches : kSamples);
    if (!found) return;
    each_.node.inputs.push_back(draft_.nodes[*found].node.name);
    each_.feeds.push_back(*found);
  }

  /// True for a loader, and for what transforms the batches of one.
  [[nodiscard]] bool is_behind_loader(const DraftNode& node) const {
    const DraftNode* at = &node;
    for (std::size_t left = draft_.nodes.size(); left > 0 && at != nullptr && works_on_batches(*at); --left) {
      const Json* const in = at->json == nullptr ? nullptr : find_member(*at->json, "in");
      at = in != nullptr && in->is_string() ? draft_.find(in->get<std::string>()) : nullptr;
    }
    return at != nullptr && at->node.kind == "loader";
  }

  void report_behind_loader(const std::string& place, const std::string& name) {
    Diagnostic diagnostic = draft_.at_value(
        place, "behind-loader", fmt::format("{} stands behind loader {}", referrer_.who, core::quoted(name)));
    diagnostic.label = each_.node.kind == "loader" ? "a stream has one loader, at its end"
                                                   : "it works on samples: put it before the loader";
    draft_.point_at(diagnostic, draft_.index.at(name), "the stream ends here");
    draft_.add(std::move(diagnostic));
    each_.behind_loader = true;
  }

  void report_before_loader(const std::string& place, const std::string& name) {
    Diagnostic diagnostic =
        draft_.at_value(place, "before-loader",
                        fmt::format("{} works on batches, but {} gives samples", referrer_.who, core::quoted(name)));
    diagnostic.label = "put it behind the loader of the stream";
    draft_.point_at(diagnostic, draft_.index.at(name), "gives samples");
    draft_.add(std::move(diagnostic));
  }
};

}  // namespace

bool works_on_batches(const DraftNode& node) {
  return node.node.kind == "transform" && node.node.info != nullptr && node.node.info->has_ability(kBatchTransform);
}

void link_stream(Draft& draft, NodeId id) { StreamLinker(draft, id).link(); }

}  // namespace tenon::core
