// Manifests: strict reading of JSON into values.
#include <core/plugin/manifest.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/plugin/elf.hpp>
#include <core/plugin/interfaces.hpp>
#include <core/plugin/manifest_texts.hpp>
#include <core/plugin/refusal.hpp>
#include <core/plugin/symbols.hpp>
#include <core/storage/canonical_json.hpp>
#include <tenon/registration.hpp>

namespace tenon::core {
namespace {

constexpr int64_t kFormat = 1;
constexpr const char* kRebuild = "rebuild the plugin with this Tenon's SDK";

Refusal wrong(const std::string& pointer, const std::string& what) {
  return {"manifest",
          fmt::format("its manifest is not valid at {}: {}; {}", pointer.empty() ? "/" : pointer, what, kRebuild)};
}

/// One object of the manifest, read member by member; done() refuses what nobody asked for.
class Members {
 public:
  Members(const Json& json, std::string pointer) : json_(json), pointer_(std::move(pointer)) {
    if (!json_.is_object()) throw wrong(pointer_, "an object is expected");
  }

  [[nodiscard]] const Json* optional(const char* name) {
    known_.emplace_back(name);
    const auto found = json_.find(name);
    return found == json_.end() ? nullptr : &*found;
  }

  [[nodiscard]] const Json& required(const char* name) {
    const Json* value = optional(name);
    if (value == nullptr) throw wrong(pointer_, fmt::format("\"{}\" is missing", name));
    return *value;
  }

  [[nodiscard]] std::string text(const char* name) {
    const Json& value = required(name);
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) throw wrong(at(name), "a text is expected");
    return value.get<std::string>();
  }

  [[nodiscard]] uint32_t number(const char* name) {
    const Json& value = required(name);
    if (!value.is_number_integer() || value.get<int64_t>() < 0 ||
        value.get<int64_t>() > std::numeric_limits<uint32_t>::max()) {
      throw wrong(at(name), "an integer of at least 0 is expected");
    }
    return value.get<uint32_t>();
  }

  [[nodiscard]] bool flag(const char* name) {
    const Json* value = optional(name);
    if (value == nullptr) return false;
    if (!value->is_boolean()) throw wrong(at(name), "true or false is expected");
    return value->get<bool>();
  }

  /// The elements of a list; none where the member is missing.
  template <class Function>
  auto list(const char* name, const Function& element) {
    std::vector<std::invoke_result_t<Function, const Json&, const std::string&>> all;
    const Json* value = optional(name);
    if (value == nullptr) return all;
    if (!value->is_array()) throw wrong(at(name), "a list is expected");
    for (std::size_t i = 0; i < value->size(); ++i) {
      all.push_back(element((*value)[i], fmt::format("{}/{}", at(name), i)));
    }
    return all;
  }

  [[nodiscard]] std::vector<std::string> texts(const char* name) {
    return list(name, [](const Json& json, const std::string& pointer) {
      if (!json.is_string() || json.get_ref<const std::string&>().empty()) throw wrong(pointer, "a text is expected");
      return json.get<std::string>();
    });
  }

  void done() const {
    for (const auto& [name, value] : json_.items()) {
      if (std::ranges::find(known_, name) == known_.end()) {
        throw wrong(at(name), fmt::format("this Tenon does not know \"{}\"", name));
      }
    }
  }

  [[nodiscard]] std::string at(std::string_view name) const { return fmt::format("{}/{}", pointer_, name); }

 private:
  const Json& json_;
  std::string pointer_;
  std::vector<std::string_view> known_;
};

Dtype dtype_from(const Json& json, const std::string& pointer) {
  const std::optional<Dtype> dtype = json.is_string() ? dtype_of(json.get<std::string>()) : std::nullopt;
  if (!dtype) throw wrong(pointer, fmt::format("{} is no element type", json.dump()));
  return *dtype;
}

Port::Axis axis_from(const Json& json, const std::string& pointer) {
  if (json.is_string() && !json.get_ref<const std::string&>().empty()) return json.get<std::string>();
  if (!json.is_number_integer() || json.get<int64_t>() < 0) throw wrong(pointer, "an axis is a size, or a text");
  return json.get<int64_t>();
}

PortRule port_from(const Json& json, const std::string& pointer) {
  Members members(json, pointer);
  PortRule port;
  if (members.flag("open")) {
    port = PortRule::known_later();
  } else if (const Json* pass = members.optional("pass"); pass != nullptr) {
    if (*pass != "*") throw wrong(members.at("pass"), "\"*\" is expected");
    port = PortRule::pass_all(members.texts("except"));
  } else {
    port.name = members.text("name");
    port.dtypes = members.list("dtype", dtype_from);
    const Json* shape = members.optional("shape");
    port.any_shape = shape == nullptr;
    port.same_shape = shape != nullptr && *shape == "same";
    if (!port.any_shape && !port.same_shape) port.shape = members.list("shape", axis_from);
    port.optional = members.flag("optional");
    if (members.optional("like") != nullptr) port.like = members.text("like");
    if (members.optional("classes") != nullptr) port.classes = members.text("classes");
    if (members.optional("copies") != nullptr) port.copies = members.text("copies");
  }
  members.done();
  return port;
}

MetricOutput metric_from(const Json& json, const std::string& pointer) {
  Members members(json, pointer);
  MetricOutput output;
  output.name = members.text("name");
  const std::string direction = members.text("direction");
  if (direction != "max" && direction != "min") throw wrong(members.at("direction"), "\"max\" or \"min\" is expected");
  output.direction = direction == "max" ? Direction::kMax : Direction::kMin;
  members.done();
  return output;
}

/// Texts for people are shown as they are; values are always shown as JSON, in which nothing is hidden. `names`: the
/// members of `json` are called as an author likes, and not by the words of a schema.
void require_plain_texts(const Json& json, const std::string& pointer, bool names = false) {
  constexpr std::array<std::string_view, 5> kValues{"default", "enum", "const", "example", "pattern"};
  if (json.is_string() && has_control_characters(json.get_ref<const std::string&>())) {
    throw wrong(pointer, "it holds control characters");
  }
  if (!json.is_structured()) return;
  for (const auto& [key, value] : json.items()) {
    if (has_control_characters(key)) throw wrong(pointer, "a member's name holds control characters");
    if (names || std::ranges::find(kValues, key) == kValues.end()) {
      require_plain_texts(value, fmt::format("{}/{}", pointer, key), !names && key == "properties");
    }
  }
}

void check_interface(const ComponentInfo& component) {
  const InterfaceInfo* known = find_interface(component.kind);
  if (known == nullptr) {
    std::vector<std::string_view> kinds;
    for (const InterfaceInfo& each : interfaces()) {
      kinds.push_back(each.kind);
    }
    throw Refusal("unknown-kind",
                  fmt::format("its component {} is of a kind that this Tenon does not know (it knows {})",
                              component.id(), fmt::join(kinds, ", ")));
  }
  if (component.interface == known->interface && component.revision == known->revision) return;
  const bool is_newer = component.revision > known->revision;
  throw Refusal(
      "revision",
      fmt::format("its component {} was built for {} revision {}, this Tenon has {} revision {}: the plugin is "
                  "{} than this Tenon; {}",
                  component.id(), component.interface, component.revision, known->interface, known->revision,
                  is_newer ? "newer" : "older",
                  is_newer ? "use a newer Tenon, or rebuild the plugin with this one's SDK" : kRebuild));
}

/// The kinds of components that parameters take must be ones that are made from parameters.
void check_nested_kinds(const Json& schema, const std::string& pointer) {
  if (!schema.is_object()) return;
  if (const auto kind = schema.find("x-component"); kind != schema.end()) {
    const std::string place = pointer + "/x-component";
    if (!kind->is_string()) throw wrong(place, "a kind of component is expected");
    const auto& name = kind->get_ref<const std::string&>();
    if (name == "loader" || find_interface(name) == nullptr) {
      throw wrong(place, fmt::format("components of the kind \"{}\" cannot be parameters", name));
    }
  }
  for (const char* const each : {"properties", "anyOf"}) {
    const auto parts = schema.find(each);
    if (parts == schema.end() || !parts->is_structured()) continue;
    for (const auto& [key, part] : parts->items()) {
      check_nested_kinds(part, fmt::format("{}/{}/{}", pointer, each, key));
    }
  }
  for (const char* const each : {"items", "additionalProperties"}) {
    if (const auto part = schema.find(each); part != schema.end()) {
      check_nested_kinds(*part, fmt::format("{}/{}", pointer, each));
    }
  }
}

void check_api(uint32_t api) {
  if (api == kApi) return;
  throw Refusal("api",
                fmt::format("it was built for plugin API {}, this Tenon has API {}; {}", api, kApi,
                            api > kApi ? "use a newer Tenon, or rebuild the plugin with this one's SDK" : kRebuild));
}

void check_unique(const std::vector<ComponentInfo>& components) {
  for (auto each = components.begin(); each != components.end(); ++each) {
    if (std::any_of(components.begin(), each, [&](const ComponentInfo& other) { return other.id() == each->id(); })) {
      throw Refusal("duplicate-component", fmt::format("it brings two components of the name {}", each->id()));
    }
  }
}

}  // namespace

bool ComponentInfo::has_trait(std::string_view trait) const noexcept {
  return std::ranges::find(traits, trait) != traits.end();
}

bool ComponentInfo::has_ability(std::string_view ability) const noexcept {
  return std::ranges::find(abilities, ability) != abilities.end();
}

const ComponentInfo* PluginInfo::find(std::string_view kind, std::string_view name) const noexcept {
  const auto found = std::ranges::find_if(
      components, [&](const ComponentInfo& component) { return component.kind == kind && component.name == name; });
  return found == components.end() ? nullptr : &*found;
}

Json manifest_json(std::string_view text) {
  while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
  Json manifest;
  try {
    manifest = parse_strictly<Json>(text);
  } catch (const std::invalid_argument& error) {
    throw Refusal("manifest", fmt::format("its manifest is damaged: {}; {}", error.what(), kRebuild));
  }
  require_plain_texts(manifest, "");
  return manifest;
}

Json manifest_in(const ElfFile& file) {
  const std::optional<std::string> text = file.section(kManifestSection);
  if (!text) {
    throw Refusal("no-manifest",
                  "it has no manifest, so it is no Tenon plugin: build it with tenon_add_plugin, or keep other "
                  "libraries elsewhere");
  }
  return manifest_json(*text);
}

ComponentInfo parse_component(const Json& json, const std::string& pointer, Revisions revisions) {
  Members members(json, pointer);
  ComponentInfo component;
  component.kind = members.text("kind");
  component.name = members.text("name");
  component.interface = members.text("interface");
  component.revision = members.number("revision");
  if (revisions == Revisions::kOurs) check_interface(component);
  if (!is_component_name(component.name)) throw wrong(members.at("name"), "names match [a-z][a-z0-9_]*");
  component.summary = members.text("summary");
  component.parameters = members.required("parameters");
  if (!component.parameters.is_object()) throw wrong(members.at("parameters"), "an object is expected");
  check_nested_kinds(component.parameters, members.at("parameters"));
  if (const Json* ports = members.optional("ports"); ports != nullptr) {
    Members sides(*ports, members.at("ports"));
    component.ports.in = sides.list("in", port_from);
    component.ports.out = sides.list("out", port_from);
    sides.done();
  }
  component.metrics = members.list("metrics", metric_from);
  component.abilities = members.texts("abilities");
  component.traits = members.texts("traits");
  if (const Json* example = members.optional("example"); example != nullptr && !example->is_object()) {
    throw wrong(members.at("example"), "an object is expected");
  }
  members.done();
  return component;
}

PluginInfo parse_manifest(const Json& manifest, Revisions revisions) {
  Members members(manifest, "");
  if (const uint32_t format = members.number("manifest"); format != kFormat) {
    throw Refusal("manifest-format", fmt::format("its manifest has format {}, this Tenon reads format {}; {}", format,
                                                 kFormat, format > kFormat ? "use a newer Tenon" : kRebuild));
  }
  PluginInfo plugin;
  plugin.id = members.text("id");
  if (!is_plugin_id(plugin.id))
    throw wrong(members.at("id"), "an id is a reverse domain name, such as org.example.cutout");
  plugin.version = members.text("version");
  if (!is_version(plugin.version)) throw wrong(members.at("version"), "versions are major.minor.patch");
  plugin.licence = members.text("licence");
  plugin.api = members.number("api");
  if (revisions == Revisions::kOurs) check_api(plugin.api);
  plugin.fingerprint = members.text("fingerprint");
  plugin.namespaces = members.texts("namespaces");
  (void)members.required("components");
  plugin.components = members.list("components", [&](const Json& json, const std::string& pointer) {
    return parse_component(json, pointer, revisions);
  });
  for (ComponentInfo& component : plugin.components) {
    component.plugin = plugin.id;
  }
  members.done();
  check_unique(plugin.components);
  return plugin;
}

PluginInfo parse_manifest(std::string_view text) { return parse_manifest(manifest_json(text)); }

PluginInfo read_plugin(const ElfFile& file, const Json& manifest, Revisions revisions) {
  PluginInfo plugin = parse_manifest(manifest, revisions);
  plugin.path = file.path();
  plugin.build_id = file.build_id();
  plugin.needed = DynamicImage(file.path()).needed();
  return plugin;
}

ManifestIdentity identity_of(const Json& manifest) {
  const auto text = [](const Json& json, const char* name) {
    const auto found = json.is_object() ? json.find(name) : json.end();
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  ManifestIdentity identity{text(manifest, "id"), {}};
  const auto components = manifest.is_object() ? manifest.find("components") : manifest.end();
  if (components == manifest.end() || !components->is_array()) return identity;
  for (const Json& component : *components) {
    const std::string kind = text(component, "kind");
    const std::string name = text(component, "name");
    if (!kind.empty() && !name.empty()) identity.components.push_back(fmt::format("{}:{}", kind, name));
  }
  return identity;
}

}  // namespace tenon::core
