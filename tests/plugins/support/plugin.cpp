// Opening a plugin of this build.
#include <plugins/support/plugin.hpp>

#include <dlfcn.h>

#include <optional>
#include <stdexcept>
#include <string_view>

namespace tenon::test {
namespace {

const PluginEntry& entry_of(const std::string& plugin) {
  const std::string file = std::string(TENON_BUILD_DIR) + "/lib/tenon/plugins/" + plugin + ".so";
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(::dlerror());
  const auto entry = reinterpret_cast<const PluginEntry* (*)() noexcept>(::dlsym(library, kEntrySymbol));
  if (entry == nullptr) throw std::runtime_error(::dlerror());
  return *entry();
}

/// Keeps what a component reports.
struct Reported {
  std::optional<Error> error;
  ErrorSink sink{[](void* self, ErrorCode code, const char* pointer, const char* message) noexcept {
                   static_cast<Reported*>(self)->error.emplace(code, message, pointer);
                 },
                 this};
};

}  // namespace

void Destroy::operator()(Component* component) const {
  Reported reported;
  descriptor->destroy(component, reported.sink);
}

const ComponentDescriptor& descriptor(const std::string& plugin, const std::string& name) {
  const PluginEntry& entry = entry_of(plugin);
  for (const ComponentDescriptor* const* each = entry.begin; each != entry.end; ++each) {
    if (std::string_view((*each)->name) == name) return **each;
  }
  throw std::runtime_error(plugin + " has no component " + name);
}

Component* create(const ComponentDescriptor& descriptor, const std::string& params) {
  Reported reported;
  Component* const component = descriptor.create(params.c_str(), reported.sink);
  if (reported.error) throw *reported.error;
  return component;
}

}  // namespace tenon::test
