// What a loader stacks, pads and joins, and the fields that its order depends on.
#include <core/graph/batches.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/plugin/loader_params.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

/// The parameters that depend on fields. Those with errors of their own are left out.
struct FieldParams {
  bool shuffle = false;
  std::optional<SamplerParams> sampler;
  std::optional<BucketParams> buckets;
  std::vector<PadParams> pad;
  std::vector<std::string> lists;

  TENON_PARAMS(FieldParams, tenon::field(&FieldParams::shuffle, "shuffle", "See LoaderParams"),
               tenon::field(&FieldParams::sampler, "sampler", "See LoaderParams").word("none"),
               tenon::field(&FieldParams::buckets, "buckets", "See LoaderParams").word("none"),
               tenon::field(&FieldParams::pad, "pad", "See LoaderParams"),
               tenon::field(&FieldParams::lists, "lists", "See LoaderParams"))
};

FieldParams read_params(const Json& with) {
  FieldParams params;
  for (const detail::FieldInfo& field : FieldParams::tenon_fields().infos()) {
    const Json* const value = find_member(with, field.name);
    if (value == nullptr) continue;
    const std::string one = Json{{field.name, *value}}.dump(-1, ' ', false, Json::error_handler_t::replace);
    try {
      FieldParams read = params;
      parse_params(one, FieldParams::tenon_fields(), &read);
      params = std::move(read);
    } catch (const Error&) {
      continue;  // told by the schema
    }
  }
  return params;
}

KnownFields known_fields(std::span<const TypedValue> fields, bool open) {
  KnownFields known;
  known.open = open;
  for (const TypedValue& each : fields) {
    if (std::optional<FieldSpec> spec = each.type.field(each.name)) {
      known.typed.push_back(*std::move(spec));
    } else {
      known.untyped.push_back(each.name);
    }
  }
  return known;
}

class LoaderTyper {
 public:
  LoaderTyper(Draft& draft, NodeId id) : draft_(draft), id_(id), each_(draft.nodes[id]) {}

  void type(std::vector<TypedValue> in, bool in_open) {
    const FieldParams params = read_params(each_.parameters);
    const KnownFields sample = known_fields(in, in_open);
    const NodeId source = each_.feeds.empty() ? id_ : each_.feeds.front();
    if (!each_.feeds.empty()) check_order(params);
    const std::vector<ParamFault> faults = collation_faults(params.pad, params.lists, sample);
    for (const ParamFault& fault : faults) report(fault, source);
    give(params, std::move(in), sample, !faults.empty());
    each_.out_open = in_open || !faults.empty();
  }

 private:
  /// Samplers and buckets look at the dataset alone.
  void check_order(const FieldParams& params) {
    NodeId at = each_.feeds.front();
    while (draft_.nodes[at].node.kind != "dataset" && !draft_.nodes[at].feeds.empty()) {
      at = draft_.nodes[at].feeds.front();
    }
    const DraftNode& dataset = draft_.nodes[at];
    const bool open = dataset.out_open || dataset.node.kind != "dataset";
    for (const ParamFault& fault :
         order_faults(params.shuffle, params.sampler, params.buckets, known_fields(dataset.fields, open))) {
      report(fault, at);
    }
  }

  void report(const ParamFault& fault, NodeId source) {
    const std::string pointer = place_of(fault.pointer);
    Diagnostic diagnostic =
        draft_.at_value(pointer, fault.code, fmt::format("{}: {}", draft_.title(id_), fault.message));
    diagnostic.label = fault.label;
    if (!fault.name.empty()) draft_.propose_nearest(diagnostic, fault.name, fault.candidates);
    if (fault.code != "conflict" && fault.code != "bad-value" && source != id_) {
      std::vector<std::string> texts;
      for (const TypedValue& field : draft_.nodes[source].fields) {
        texts.push_back(fmt::format("{} {}", field.name, to_string(field.type)));
      }
      diagnostic.notes.push_back(
          fmt::format("fields of {}: {}", core::quoted(draft_.nodes[source].node.name), list_names(texts)));
    }
    draft_.add(std::move(diagnostic));
  }

  /// The parameter that is written; for one that is not, what holds it.
  [[nodiscard]] std::string place_of(const std::string& parameter) const {
    std::string pointer = each_.node.pointer + "/with" + parameter;
    while (!draft_.resolved.locate(pointer).exact && pointer.size() > each_.node.pointer.size()) {
      pointer = parent_pointer(pointer);
    }
    return pointer;
  }

  /// Fields without a type get the batch axis too; what pad and lists say of them stays unknown.
  void give(const FieldParams& params, std::vector<TypedValue> in, const KnownFields& sample, bool faulty) {
    const std::span<const PadParams> pad = faulty ? std::span<const PadParams>() : params.pad;
    const std::span<const std::string> lists = faulty ? std::span<const std::string>() : params.lists;
    const Spec batch = batch_fields(pad, lists, sample.typed, false);
    for (TypedValue& field : in) {
      if (const FieldSpec* const typed = find(batch, field.name)) {
        field.type.head = typed->shape;
      } else if (std::find(lists.begin(), lists.end(), field.name) != lists.end()) {
        field.type = {field.type.dtype, {}, true, {}};
      } else {
        field.type.head.insert(field.type.head.begin(), Dim("N"));
      }
    }
    for (std::size_t i = sample.typed.size(); i < batch.size(); ++i) {
      TypedValue made{batch[i].name, {batch[i].dtype, batch[i].shape, false, {}}, id_};
      for (const PadParams& each : pad) {
        const bool is_its = each.length == made.name || each.mask == made.name;
        if (is_its && find(sample.typed, each.field) == nullptr) made.type = {made.type.dtype, {Dim("N")}, true, {}};
      }
      in.push_back(std::move(made));
    }
    each_.fields = std::move(in);
  }

  Draft& draft_;
  NodeId id_;
  DraftNode& each_;
};

}  // namespace

void type_batches(Draft& draft, NodeId id, std::vector<TypedValue> in, bool in_open) {
  LoaderTyper(draft, id).type(std::move(in), in_open);
}

}  // namespace tenon::core
