// The data plane: a stream from each node that `in` names.
#include <array>
#include <optional>

#include <fmt/format.h>

#include <core/graph/linker.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

constexpr std::array<std::string_view, 1> kDataset{"dataset"};
constexpr std::array<std::string_view, 2> kSamples{"dataset", "transform"};

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
              kind == "dataset" ? "add \"in\" with the name of a dataset, or of several"
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
    const bool is_dataset = each_.node.kind == "dataset";
    if (source != nullptr && source->node.kind == "loader" && !is_dataset) {
      report_behind_loader(place, name);
      return;
    }
    const auto kinds = is_dataset ? std::span<const std::string_view>(kDataset) : kSamples;
    const std::optional<NodeId> found = draft_.refer(place, name, referrer_, kinds);
    if (!found) return;
    each_.node.inputs.push_back(draft_.nodes[*found].node.name);
    each_.feeds.push_back(*found);
  }

  void report_behind_loader(const std::string& place, const std::string& name) {
    Diagnostic diagnostic = draft_.at_value(
        place, "behind-loader", fmt::format("{} stands behind loader {}", referrer_.who, core::quoted(name)));
    diagnostic.label = each_.node.kind == "loader"
                           ? "a stream has one loader, at its end"
                           : "transforms of batches are not supported yet: put it before the loader";
    draft_.point_at(diagnostic, draft_.index.at(name), "the stream ends here");
    draft_.add(std::move(diagnostic));
    each_.behind_loader = true;
  }
};

}  // namespace

void link_stream(Draft& draft, NodeId id) { StreamLinker(draft, id).link(); }

}  // namespace tenon::core
