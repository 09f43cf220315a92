// Descriptors of this program or of an opened plugin, and what they make.
#include <tenon/harness/components.hpp>

#include <dlfcn.h>

#include <optional>
#include <set>

#include <nlohmann/json.hpp>

#include <tenon/components/nesting.hpp>

// The linker makes these names where any component is linked.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
extern const tenon::ComponentDescriptor* const __start_tenon_components[] __attribute__((weak, visibility("hidden")));
extern const tenon::ComponentDescriptor* const __stop_tenon_components[] __attribute__((weak, visibility("hidden")));
}
// NOLINTEND(readability-identifier-naming)

namespace tenon::harness {
namespace {

using Json = nlohmann::ordered_json;

/// Keeps the first error that a component reports.
class Report {
 public:
  [[nodiscard]] ErrorSink sink() noexcept { return {&Report::take, this}; }
  void rethrow() const {
    if (error_) throw Error(*error_);
  }

 private:
  static void take(void* self, ErrorCode code, const char* pointer, const char* message) noexcept {
    auto& report = *static_cast<Report*>(self);
    if (!report.error_) report.error_.emplace(code, message, pointer);
  }

  std::optional<Error> error_;
};

struct Place {
  std::string pointer;
  Json value;
};

bool is_inner(const Json& schema) { return schema.contains("x-component"); }

std::string below(std::string pointer, const std::string& name) { return pointer.append("/").append(name); }

/// The components that stand as parameters, by the schema of all parameters.
void find_inner(const Json& value, const Json& schema, const std::string& pointer, std::vector<Place>& places) {
  if (is_inner(schema)) {
    if (value.is_object() && value.contains("use") && value["use"].is_string() &&
        !value["use"].get_ref<const std::string&>().empty())
      places.push_back({pointer, value});
    return;
  }
  for (const char* const choice : {"anyOf", "oneOf"}) {
    if (!schema.contains(choice)) continue;
    for (const Json& each : schema[choice]) find_inner(value, each, pointer, places);
  }
  if (value.is_array() && schema.contains("items")) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      find_inner(value[i], schema["items"], below(pointer, std::to_string(i)), places);
    }
  }
  if (!value.is_object()) return;
  for (const auto& [name, member] : value.items()) {
    if (schema.contains("properties") && schema["properties"].contains(name)) {
      find_inner(member, schema["properties"][name], below(pointer, name), places);
    } else if (schema.contains("additionalProperties") && schema["additionalProperties"].is_object()) {
      find_inner(member, schema["additionalProperties"], below(pointer, name), places);
    }
  }
}

std::vector<Place> inner_places(const ComponentDescriptor& descriptor, const std::string& params) {
  const Json value = Json::parse(params, nullptr, false);
  const Json described = Json::parse(descriptor.describe(), nullptr, false);
  std::vector<Place> places;
  if (described.is_object() && described.contains("parameters")) {
    find_inner(value, described["parameters"], "", places);
  }
  return places;
}

}  // namespace

void Destroy::operator()(Component* component) const noexcept {
  Report report;
  descriptor->destroy(component, report.sink());
}

Registry Registry::linked() {
  Registry registry;
  registry.descriptors_.assign(__start_tenon_components, __stop_tenon_components);
  return registry;
}

Registry Registry::opened(const std::filesystem::path& plugin) {
  void* const library = ::dlopen(std::filesystem::absolute(plugin).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) throw Error(ErrorCode::kPlugin, ::dlerror());
  const auto entry = reinterpret_cast<const PluginEntry* (*)() noexcept>(::dlsym(library, kEntrySymbol));
  if (entry == nullptr) throw Error(ErrorCode::kPlugin, ::dlerror());
  const PluginEntry* const said = entry();
  if (said == nullptr || said->api != kApi) {
    throw Error(ErrorCode::kPlugin, plugin.string() + " was built with another SDK than this test");
  }
  Registry registry;
  registry.descriptors_.assign(said->begin, said->end);
  return registry;
}

const ComponentDescriptor& Registry::at(std::string_view interface, std::string_view name) const {
  std::string names;
  for (const ComponentDescriptor* const each : descriptors_) {
    if (interface != each->interface) continue;
    if (name == each->name) return *each;
    names += (names.empty() ? "" : ", ") + std::string(each->name);
  }
  throw Error(ErrorCode::kPlugin, "there is no " + std::string(interface) + " \"" + std::string(name) +
                                      "\"; there are: " + (names.empty() ? "none" : names));
}

void Registry::add(const Registry& other) {
  const std::set<const ComponentDescriptor*> known(descriptors_.begin(), descriptors_.end());
  for (const ComponentDescriptor* const each : other.descriptors_) {
    if (!known.contains(each)) descriptors_.push_back(each);
  }
}

Made<Component> Registry::create(const ComponentDescriptor& descriptor, const std::string& params) const {
  Report report;
  Made<Component> made(descriptor.create(params.c_str(), report.sink()), Destroy{&descriptor});
  if (made == nullptr) {
    report.rethrow();
    throw Error(ErrorCode::kPlugin, "it could not be made and does not say why");
  }
  for (const Place& place : inner_places(descriptor, params)) {
    auto* const nesting = ability<Nesting>(*made);
    if (nesting == nullptr) {
      throw Error(ErrorCode::kPlugin, "takes a component as a parameter, but lacks the ability Nesting", place.pointer);
    }
    const std::string use = place.value["use"];
    const std::size_t colon = use.find(':');
    if (colon == std::string::npos) throw Error(ErrorCode::kConfig, "\"" + use + "\" is no kind:name", place.pointer);
    const ComponentDescriptor& inner = at("tenon." + use.substr(0, colon), use.substr(colon + 1));
    const std::string with = place.value.contains("with") ? place.value["with"].dump() : "{}";
    made.get_deleter().inner.push_back(create(inner, with));
    nesting->adopt(place.pointer, *made.get_deleter().inner.back());
  }
  return made;
}

}  // namespace tenon::harness
