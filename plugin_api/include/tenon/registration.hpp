// How a component becomes known: constant descriptors in a linker section that one exported symbol spans.
//
//   TENON_COMPONENT(Cutout, CutoutParams, "cutout", "Masks a random square of the image")
//
// The class derives from one interface of tenon/components/, takes `const CutoutParams&` in its constructor and may
// say:
//   static tenon::Ports ports();                            what it takes and gives
//   static std::vector<std::string> traits();               "random", "data_dependent", "batch_coupled", "needs_cuda", …
//   static std::vector<std::string> abilities();            optional abilities by versioned id
//   static std::vector<tenon::MetricOutput> outputs();      values of a metric
//   static tenon::Example example();                        what it can be tried with, where its rules do not tell
// No list is edited, and nothing runs while the library is being opened.
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tenon/component.hpp>
#include <tenon/example.hpp>
#include <tenon/fingerprint.hpp>
#include <tenon/params.hpp>
#include <tenon/ports.hpp>

namespace tenon {

/// Takes what failed behind a noexcept border. The strings live only during the call.
struct ErrorSink {
  void (*report)(void* self, ErrorCode code, const char* pointer, const char* message) noexcept;
  void* self;
};

/// What the host knows of a component. Constant; it and all strings live as long as the library is mapped.
struct ComponentDescriptor {
  uint32_t size;          ///< sizeof(ComponentDescriptor) of the plugin's SDK: newer members lie behind.
  const char* interface;  ///< "tenon.transform"
  uint32_t revision;      ///< Revision of that interface.
  const char* name;
  const char* summary;
  /// Canonical JSON: kind, schema, ports, traits: this component's part of the manifest. Empty when it cannot be told.
  const char* (*describe)() noexcept;
  /// `params` is complete JSON, defaults resolved. nullptr after a failure, which the sink has received.
  Component* (*create)(const char* params, const ErrorSink&) noexcept;
  void (*destroy)(Component*, const ErrorSink&) noexcept;
};

/// What `tenon_plugin_1` returns.
struct PluginEntry {
  uint32_t size;
  uint32_t api;  ///< Revision of this structure and of the descriptors.
  const char* id;
  const char* version;
  const char* licence;
  const char* fingerprint;
  const char* namespaces;  ///< Torch operator namespaces that it registers, separated by one blank.
  const ComponentDescriptor* const* begin;
  const ComponentDescriptor* const* end;
};

inline constexpr uint32_t kApi = 1;
inline constexpr const char* kEntrySymbol = "tenon_plugin_1";
inline constexpr const char* kManifestSection = ".tenon.manifest";

namespace detail {

/// What describe() tells beside the schema.
struct Description {
  const char* interface = nullptr;
  uint32_t revision = 0;
  const char* name = nullptr;
  const char* summary = nullptr;
  const Fields* fields = nullptr;
  Ports ports;
  std::vector<std::string> traits;
  std::vector<std::string> abilities;
  std::vector<MetricOutput> outputs;
  std::optional<Example> example;
};

[[nodiscard]] std::string describe(const Description& description);

template <class C>
Description describe_class(const ComponentDescriptor& descriptor, const Fields& fields) {
  Description description;
  description.interface = descriptor.interface;
  description.revision = descriptor.revision;
  description.name = descriptor.name;
  description.summary = descriptor.summary;
  description.fields = &fields;
  if constexpr (requires { C::ports(); }) description.ports = C::ports();
  if constexpr (requires { C::traits(); }) description.traits = C::traits();
  if constexpr (requires { C::abilities(); }) description.abilities = C::abilities();
  if constexpr (requires { C::outputs(); }) description.outputs = C::outputs();
  if constexpr (requires { C::example(); }) description.example = C::example();
  return description;
}

/// Reports the exception in flight. Foreign exception types are named as such.
void report_current(const ErrorSink& sink) noexcept;

template <class C, class P>
Component* create(const char* params, const ErrorSink& sink) noexcept {
  try {
    return new C(parse_params<P>(params));
  } catch (...) {
    report_current(sink);
    return nullptr;
  }
}

template <class C>
void destroy(Component* component, const ErrorSink& sink) noexcept {
  try {
    delete component;
  } catch (...) {
    report_current(sink);
  }
}

}  // namespace detail
}  // namespace tenon

/// Makes a class known under `Name` of the kind that it derives from. At namespace scope, once a class.
#define TENON_COMPONENT(Class, Params, Name, Summary)                                                             \
  namespace {                                                                                                     \
  const char* tenon_describe_##Class() noexcept;                                                                  \
  constexpr ::tenon::ComponentDescriptor tenon_descriptor_##Class{sizeof(::tenon::ComponentDescriptor),           \
                                                                  Class::kInterface,                              \
                                                                  Class::kRevision,                               \
                                                                  Name,                                           \
                                                                  Summary,                                        \
                                                                  &tenon_describe_##Class,                        \
                                                                  &::tenon::detail::create<Class, Params>,        \
                                                                  &::tenon::detail::destroy<Class>};              \
  const char* tenon_describe_##Class() noexcept {                                                                 \
    static const std::string text = [] {                                                                          \
      try {                                                                                                       \
        return ::tenon::detail::describe(                                                                         \
            ::tenon::detail::describe_class<Class>(tenon_descriptor_##Class, Params::tenon_fields()));            \
      } catch (...) {                                                                                             \
        return std::string();                                                                                     \
      }                                                                                                           \
    }();                                                                                                          \
    return text.c_str();                                                                                          \
  }                                                                                                               \
  [[gnu::section("tenon_components"), gnu::used,                                                                  \
    gnu::retain]] const ::tenon::ComponentDescriptor* const tenon_registered_##Class = &tenon_descriptor_##Class; \
  }

/// Defines the library's one exported symbol. `tenon_add_plugin` writes the file that holds it.
#define TENON_PLUGIN_ENTRY(Id, Version, Licence, Namespaces)                                                       \
  extern "C" {                                                                                                     \
  extern const ::tenon::ComponentDescriptor* const __start_tenon_components[]                                      \
      __attribute__((weak, visibility("hidden")));                                                                 \
  extern const ::tenon::ComponentDescriptor* const __stop_tenon_components[]                                       \
      __attribute__((weak, visibility("hidden")));                                                                 \
  __attribute__((visibility("default"))) const ::tenon::PluginEntry* tenon_plugin_1() noexcept {                   \
    static const ::tenon::PluginEntry entry{                                                                       \
        sizeof(::tenon::PluginEntry), ::tenon::kApi,          Id, Version, Licence, TENON_FINGERPRINT, Namespaces, \
        __start_tenon_components,     __stop_tenon_components};                                                    \
    return &entry;                                                                                                 \
  }                                                                                                                \
  }
