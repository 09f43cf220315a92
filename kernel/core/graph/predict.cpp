// What "predict" shows, column by column.
#include <array>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <core/graph/linker.hpp>
#include <core/graph/stages.hpp>
#include <core/json/pointer.hpp>
#include <core/text/suggest.hpp>

namespace tenon::core {
namespace {

using Form = PredictedOutput::Form;

constexpr std::array kForms{Form::kValue, Form::kSoftmax, Form::kSigmoid, Form::kArgmax};

class OutputReader {
 public:
  explicit OutputReader(Draft& draft) : draft_(draft) {}

  std::vector<DraftOutput> read() {
    const std::string pointer = "/predict/outputs";
    const Json* const outputs = draft_.resolved.find(pointer);
    if (outputs == nullptr) return {};
    are_named_by_keys_ = outputs->is_object();
    if (are_named_by_keys_) {
      for (const auto& [name, value] : outputs->items()) add(child_pointer(pointer, name), name, value);
    }
    for (std::size_t i = 0; outputs->is_array() && i < outputs->size(); ++i) {
      const Json& value = (*outputs)[i];
      const Json* const name = value.is_string() ? &value : find_member(value, "name");
      if (name != nullptr && name->is_string()) add(child_pointer(pointer, i), name->get<std::string>(), value);
    }
    return std::move(found_);
  }

 private:
  void read_axis(DraftOutput& output, const std::string& pointer, const Json& value) {
    const Json* const axis = find_member(value, "axis");
    if (axis == nullptr || !axis->is_number_integer()) return;
    output.output.axis = axis->get<int64_t>();
    if (output.output.form == Form::kSoftmax || output.output.form == Form::kArgmax) return;
    draft_.add(
        draft_.at_value(pointer + "/axis", "unused-key",
                        fmt::format("\"axis\" is that of the classes: {} has none", name_of(output.output.form))));
  }

  /// An error at an output's name: a key, a member of its own, or the whole.
  [[nodiscard]] Diagnostic at_name(const std::string& pointer, const Json& value, std::string code,
                                   std::string message) const {
    if (are_named_by_keys_) return draft_.at_key(pointer, std::move(code), std::move(message));
    return draft_.at_value(value.is_object() ? pointer + "/name" : pointer, std::move(code), std::move(message));
  }

  void add(const std::string& pointer, const std::string& name, const Json& value) {
    DraftOutput each;
    each.output.name = name;
    each.as_pointer = pointer;
    each.wire.pointer = pointer;
    const Json* from = &value;
    if (value.is_object()) {
      from = find_member(value, "from");
      each.wire.pointer += "/from";
      const Json* const as = find_member(value, "as");
      if (as != nullptr) each.as_pointer += "/as";
      for (const Form form : kForms) {
        if (as != nullptr && *as == name_of(form)) each.output.form = form;
      }
      read_axis(each, pointer, value);
    }
    if (name == "index" || name == "item") {
      draft_.add(at_name(pointer, value, "duplicate",
                         fmt::format("predict has an output {}, as which rows tell their sample; call it "
                                     "otherwise",
                                     core::quoted(name))));
    }
    if (!names_.insert(name).second) {
      draft_.add(at_name(pointer, value, "duplicate", fmt::format("predict has two outputs {}", core::quoted(name))));
    }
    if (from == nullptr || !from->is_string()) return;
    if (!follow_wire(draft_, {"\"predict\""}, each.wire, from->get<std::string>())) return;
    if (each.wire.source && draft_.nodes[*each.wire.source].node.kind != "model") {
      const DraftNode& node = draft_.nodes[*each.wire.source];
      Diagnostic diagnostic =
          draft_.at_value(each.wire.pointer, "wrong-kind",
                          fmt::format("predict shows outputs of models and fields of the batch, but {} is {}",
                                      core::quoted(node.node.name), with_article(node.node.kind)));
      draft_.point_at(diagnostic, *each.wire.source, node.node.use());
      draft_.add(std::move(diagnostic));
      return;
    }
    each.output.source = each.wire.wire.source;
    each.output.output = each.wire.wire.output;
    found_.push_back(std::move(each));
  }

  Draft& draft_;
  bool are_named_by_keys_ = false;
  std::set<std::string> names_;
  std::vector<DraftOutput> found_;
};

}  // namespace

std::vector<DraftOutput> read_outputs(Draft& draft) { return OutputReader(draft).read(); }

}  // namespace tenon::core
