// Rules of outputs: names, types, axes.
#include <conformance/declared_ports.hpp>

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace tenon::conformance {

std::vector<std::string> names_of(const Json& rule, const Json& params) {
  const std::string name = rule["name"];
  if (!name.starts_with('$')) return {name};
  const auto found = params.find(name.substr(1));
  if (found == params.end()) return {};
  if (!found->is_string() && !found->is_array()) return {};
  std::vector<std::string> names;
  for (const Json& each : found->is_array() ? *found : Json::array({*found})) {
    if (each.is_string() && !each.get_ref<const std::string&>().empty()) names.push_back(each);
  }
  return names;
}

namespace {

std::string shape_contradiction(const Json& rule, const Json& params, const Spec& in, const FieldSpec& field,
                                bool batched) {
  if (!rule.contains("shape")) return {};
  if (rule["shape"] == "same") {
    const FieldSpec* const input = find(in, field.name);
    return input == nullptr || input->shape == field.shape ? "" : "the shape of the input, " + to_string(*input);
  }
  std::string wanted = rule["shape"].dump();
  std::size_t at = 0;
  for (const Json& axis : rule["shape"]) {
    if (axis == "*") return {};  // any axes from here on
    if (at == field.shape.size()) return wanted;
    const Dim& dim = field.shape[at++];
    int64_t size = Dim::kUnknown;
    if (axis.is_number()) size = axis;
    if (axis.is_string() && axis.get<std::string>().starts_with('$')) {
      const auto found = params.find(axis.get<std::string>().substr(1));
      if (found != params.end() && found->is_number_integer()) size = *found;
    }
    if (axis == "N" && batched) size = kBatch;
    if (size != Dim::kUnknown && dim.fixed() && dim.size != size) return wanted;
  }
  return at == field.shape.size() ? "" : wanted;
}

}  // namespace

std::string contradiction(const Subject& subject, const Json& params, const Spec& in, const Spec& out, bool batched) {
  std::map<std::string, bool> declared;
  bool open = false;
  for (const Json& rule : subject.manifest["ports"]["out"]) {
    if (rule.value("open", false)) open = true;
    if (rule.contains("pass")) {
      const Json except = rule.value("except", Json::array());
      for (const FieldSpec& field : in) {
        if (std::find(except.begin(), except.end(), Json(field.name)) == except.end()) declared[field.name] = true;
      }
    }
    if (!rule.contains("name")) continue;
    for (const std::string& name : names_of(rule, params)) {
      declared[name] = true;
      const FieldSpec* const field = find(out, name);
      if (field == nullptr) {
        if (rule.value("optional", false)) continue;
        return fmt::format("ports() says that it gives \"{}\", and it does not", name);
      }
      if (rule.contains("dtype") && !rule["dtype"].empty()) {
        const Json& types = rule["dtype"];
        if (std::find(types.begin(), types.end(), Json(std::string(name_of(field->dtype)))) == types.end()) {
          return fmt::format("\"{}\" is {}, and ports() says {}", name, to_string(*field), types.dump());
        }
      }
      const std::string wanted = shape_contradiction(rule, params, in, *field, batched);
      if (!wanted.empty()) return fmt::format("\"{}\" is {}, and ports() says {}", name, to_string(*field), wanted);
    }
  }
  if (open) return {};
  for (const FieldSpec& field : out) {
    if (!declared.contains(field.name)) return fmt::format("it gives \"{}\", which ports() does not name", field.name);
  }
  return {};
}

}  // namespace tenon::conformance
