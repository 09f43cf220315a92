// Unification of port rules with values.
#include <core/graph/value_type.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/json/pointer.hpp>

namespace tenon::core {
namespace {

using Axes = std::span<const Port::Axis>;

bool is_rest(const Port::Axis& axis) {
  const std::string* const text = std::get_if<std::string>(&axis);
  return text != nullptr && *text == "*";
}

/// A rule's axes before and behind its "*".
struct SplitShape {
  Axes head;
  Axes tail;
  bool rest = false;
};

SplitShape split(const Port& port) {
  const Axes all(port.shape);
  if (port.any_shape || port.same_shape) return {{}, {}, true};
  const auto star = std::find_if(all.begin(), all.end(), is_rest);
  if (star == all.end()) return {all, {}, false};
  const auto at = static_cast<std::size_t>(star - all.begin());
  return {all.first(at), all.subspan(at + 1), true};
}

std::string dtype_text(const std::vector<Dtype>& dtypes) {
  static constexpr std::array kFloats{Dtype::kFloat16, Dtype::kBfloat16, Dtype::kFloat32, Dtype::kFloat64};
  static constexpr std::array kInts{Dtype::kUint8, Dtype::kInt8, Dtype::kInt16, Dtype::kInt32, Dtype::kInt64};
  if (dtypes.empty()) return "any";
  const auto is_exactly = [&](std::span<const Dtype> family) {
    return dtypes.size() == family.size() && std::all_of(family.begin(), family.end(), [&](Dtype dtype) {
             return std::find(dtypes.begin(), dtypes.end(), dtype) != dtypes.end();
           });
  };
  if (is_exactly(kFloats)) return "float";
  if (is_exactly(kInts)) return "int";
  std::vector<std::string_view> names;
  std::transform(dtypes.begin(), dtypes.end(), std::back_inserter(names), [](Dtype dtype) { return name_of(dtype); });
  return fmt::format("{}", fmt::join(names, "|"));
}

std::string dim_text(const Dim& dim) {
  if (dim.fixed()) return fmt::format("{}", dim.size);
  return dim.symbol.empty() ? "?" : dim.symbol;
}

const Json* parameter_value(const Json& with, std::string_view name) { return find_member(with, name.substr(1)); }

bool is_parameter(std::string_view text) { return !text.empty() && text.front() == '$'; }

}  // namespace

ValueType ValueType::unknown() {
  ValueType type;
  type.rest = true;
  return type;
}

std::optional<FieldSpec> ValueType::field(std::string name) const {
  if (!dtype || rest) return std::nullopt;
  return FieldSpec{std::move(name), *dtype, head};
}

std::string to_string(const ValueType& type) {
  std::vector<std::string> axes;
  std::transform(type.head.begin(), type.head.end(), std::back_inserter(axes), dim_text);
  if (type.rest) axes.emplace_back("*");
  std::transform(type.tail.begin(), type.tail.end(), std::back_inserter(axes), dim_text);
  return fmt::format("{}[{}]", type.dtype ? name_of(*type.dtype) : "any", fmt::join(axes, ", "));
}

std::string describe_rule(const Port& port, const Json& with) {
  std::vector<std::string> axes;
  if (port.any_shape || port.same_shape) axes.emplace_back("*");
  for (const Port::Axis& axis : port.shape) {
    const std::string* const text = std::get_if<std::string>(&axis);
    if (text == nullptr) {
      axes.push_back(fmt::format("{}", std::get<int64_t>(axis)));
      continue;
    }
    const Json* const value = is_parameter(*text) ? parameter_value(with, *text) : nullptr;
    axes.push_back(value != nullptr && value->is_number_integer() ? value->dump() : *text);
  }
  return fmt::format("{}[{}]", dtype_text(port.dtypes), fmt::join(axes, ", "));
}

std::vector<std::string> expand_name(const std::string& name, const Json& with) {
  if (!is_parameter(name)) return {name};
  const Json* const value = parameter_value(with, name);
  std::vector<std::string> names;
  if (value == nullptr) return names;
  if (value->is_string()) names.push_back(value->get<std::string>());
  if (value->is_array()) {
    for (const Json& item : *value) {
      if (item.is_string()) names.push_back(item.get<std::string>());
    }
  }
  return names;
}

std::vector<std::string> port_names(const Port& port, const Json& with) { return expand_name(port.name, with); }

bool names_no_port(const Port& port, const Json& with) {
  const Json* const value = is_parameter(port.name) ? parameter_value(with, port.name) : nullptr;
  return value != nullptr && value->is_array() && value->empty();
}

std::optional<Dim> PortRules::parameter(std::string_view name) const {
  const Json* const value = parameter_value(*with_, name);
  if (value == nullptr || !value->is_number_integer()) return std::nullopt;
  return Dim(value->get<int64_t>());
}

bool PortRules::unify(const Port::Axis& axis, const Dim& dim, std::string_view port, Bindings& bindings) const {
  if (const auto* const size = std::get_if<int64_t>(&axis)) return !dim.fixed() || dim.size == *size;
  const auto& name = std::get<std::string>(axis);
  if (is_parameter(name)) {
    const std::optional<Dim> wanted = parameter(name);
    return !wanted || !dim.fixed() || dim.size == wanted->size;
  }
  const auto [found, added] = bindings.try_emplace(name, Binding{dim, std::string(port)});
  if (added || !dim.fixed()) return true;
  Binding& binding = found->second;
  if (!binding.dim.fixed()) binding = {dim, std::string(port)};
  return binding.dim.size == dim.size;
}

PortRules::Verdict PortRules::take(const Port& port, std::string_view name, const ValueType& value) {
  if (!port.dtypes.empty() && value.dtype &&
      std::find(port.dtypes.begin(), port.dtypes.end(), *value.dtype) == port.dtypes.end()) {
    return Verdict::kDtype;
  }
  const SplitShape wanted = split(port);
  const std::size_t wanted_axes = wanted.head.size() + wanted.tail.size();
  const std::size_t given_axes = value.head.size() + value.tail.size();
  if (!wanted.rest && !value.rest && wanted_axes != given_axes) return Verdict::kShape;
  if (!wanted.rest && given_axes > wanted_axes) return Verdict::kShape;
  if (!value.rest && wanted_axes > given_axes) return Verdict::kShape;

  // A shape without a rest is all head, and its end is compared as a tail.
  const Axes wanted_tail = wanted.rest ? wanted.tail : wanted.head;
  const std::vector<Dim>& given_tail = value.rest ? value.tail : value.head;
  Bindings bindings = bindings_;
  const std::size_t from_start = std::min(wanted.head.size(), value.head.size());
  for (std::size_t i = 0; i < from_start; ++i) {
    if (!unify(wanted.head[i], value.head[i], name, bindings)) return Verdict::kShape;
  }
  const bool compared_all = !wanted.rest && !value.rest;
  const std::size_t from_end = compared_all ? 0 : std::min(wanted_tail.size(), given_tail.size());
  for (std::size_t i = 1; i <= from_end; ++i) {
    if (!unify(wanted_tail[wanted_tail.size() - i], given_tail[given_tail.size() - i], name, bindings)) {
      return Verdict::kShape;
    }
  }
  bindings_ = std::move(bindings);
  return Verdict::kFits;
}

ValueType PortRules::give(const Port& port, const ValueType* same) const {
  ValueType type = ValueType::unknown();
  if (port.same_shape && same != nullptr) type = *same;
  if (!port.dtypes.empty()) {
    type.dtype = port.dtypes.front();
  } else if (same != nullptr) {
    type.dtype = same->dtype;
  }
  if (port.same_shape || port.any_shape) return type;

  const auto dim_of = [&](const Port::Axis& axis) -> Dim {
    if (const auto* const size = std::get_if<int64_t>(&axis)) return {*size};
    const auto& name = std::get<std::string>(axis);
    if (is_parameter(name)) return parameter(name).value_or(Dim());
    const auto found = bindings_.find(name);
    return found == bindings_.end() ? Dim(name) : found->second.dim;
  };
  const SplitShape shape = split(port);
  type.rest = shape.rest;
  std::transform(shape.head.begin(), shape.head.end(), std::back_inserter(type.head), dim_of);
  std::transform(shape.tail.begin(), shape.tail.end(), std::back_inserter(type.tail), dim_of);
  return type;
}

std::string PortRules::bound(const Port& port) const {
  std::vector<std::string> texts;
  for (const Port::Axis& axis : port.shape) {
    const std::string* const name = std::get_if<std::string>(&axis);
    const auto found = name == nullptr ? bindings_.end() : bindings_.find(*name);
    if (found == bindings_.end() || !found->second.dim.fixed()) continue;
    texts.push_back(fmt::format("{} = {} from \"{}\"", *name, found->second.dim.size, found->second.port));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace tenon::core
