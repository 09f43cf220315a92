// Types of what flows along edges, as far as manifests tell, and the port rules of a component over them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <core/json/json.hpp>
#include <tenon/ports.hpp>
#include <tenon/spec.hpp>

namespace tenon::core {

/// Element type and shape of one value. Without a type it may be any; with `rest`, any number of axes lie between `head`
/// and `tail`.
struct ValueType {
  std::optional<Dtype> dtype;
  std::vector<Dim> head;
  bool rest = false;
  std::vector<Dim> tail;

  /// A value of which nothing is known.
  [[nodiscard]] static ValueType unknown();

  /// As a field, when type and number of axes are known.
  [[nodiscard]] std::optional<FieldSpec> field(std::string name) const;
};

/// "float32[N, 10]"; what is not known reads "any", "?" and "*".
[[nodiscard]] std::string to_string(const ValueType& type);

/// What a rule asks for: "float[N, C]", "uint8[1, 8, 8]". "float" and "int" stand for all types of that sort; the value
/// of a parameter stands in its place.
[[nodiscard]] std::string describe_rule(const Port& port, const Json& with);

/// The names that a name in a rule stands for: itself, or those that its parameter lists. Empty when that is not there.
[[nodiscard]] std::vector<std::string> expand_name(const std::string& name, const Json& with);

/// The names that a rule stands for: its own, or those that its parameter lists. Empty when the parameter is not there.
[[nodiscard]] std::vector<std::string> port_names(const Port& port, const Json& with);

/// True when the parameter that names the port is a list, and empty.
[[nodiscard]] bool names_no_port(const Port& port, const Json& with);

/// The port rules of one use of a component: its parameters, and what its symbols were bound to by the inputs so far.
class PortRules {
 public:
  enum class Verdict { kFits, kDtype, kShape };

  /// `with` must outlive this.
  explicit PortRules(const Json& with) : with_(&with) {}

  /// Compares a value with an input rule; where it fits, the rule's symbols are bound. Two unknowns always fit.
  Verdict take(const Port& port, std::string_view name, const ValueType& value);

  /// What an output rule gives; `same` is the input of the same name, or null.
  [[nodiscard]] ValueType give(const Port& port, const ValueType* same) const;

  /// "C = 10 from \"logits\"" for every symbol of the rule that an earlier input bound to a size; may be empty.
  [[nodiscard]] std::string bound(const Port& port) const;

 private:
  struct Binding {
    Dim dim;
    std::string port;
  };
  using Bindings = std::unordered_map<std::string, Binding>;

  [[nodiscard]] bool unify(const Port::Axis& axis, const Dim& dim, std::string_view port, Bindings& bindings) const;
  [[nodiscard]] std::optional<Dim> parameter(std::string_view name) const;

  const Json* with_;
  Bindings bindings_;
};

}  // namespace tenon::core
