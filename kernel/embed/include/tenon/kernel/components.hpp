// Components that are part of the program itself: no plugin file, and whatever of the program's memory they need.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tenon/kernel/export.hpp>
#include <tenon/params.hpp>
#include <tenon/registration.hpp>

namespace tenon::kernel {

/// The components that a program brings, as a plugin brings its own: they have an id, a schema and a place in the lock
/// file of a run, which names the program's file. A value that is handed to a Runtime. Copies share nothing that can
/// still be changed. [any thread, one at a time]
///
/// A pipeline uses them by "kind:name". The kernel makes one object for each node and each run, and more of them for
/// trying a run out before its first step; all of them are destroyed before train(), or the Predictor, ends.
class TENON_KERNEL_API Components {
 public:
  /// `id` is a reverse domain name such as "org.example.simulator", `version` is "1.0.0".
  /// \throws kernel::Error (kConfig) for an id or version of another form.
  explicit Components(std::string id, std::string version = "1.0.0");

  /// A class C that derives from an interface of tenon/components/ and may say what TENON_COMPONENT lets it say (ports,
  /// traits, …). It is made as `C(const P& params, bound...)`. What is bound is copied here, and handed over as const;
  /// std::ref hands over an object of the program, which then outlives every use of these components and, like the
  /// component's own methods, is used on the kernel's threads: read() and apply() on several at once.
  /// `add<Frames>("frames", "Frames of the camera", std::ref(camera))`
  /// \throws kernel::Error (kPlugin) for a second component of that kind and name, or a declaration that is not valid.
  template <class C, class P = NoParams, class... Bound>
  Components& add(const std::string& name, const std::string& summary, Bound&&... bound) {
    ComponentDescriptor descriptor{
        sizeof(ComponentDescriptor), C::kInterface, C::kRevision, name.c_str(), summary.c_str(), nullptr, nullptr,
        &detail::destroy<C>};
    Create create = [kept = std::tuple<std::decay_t<Bound>...>(std::forward<Bound>(bound)...)](
                        const char* params, const ErrorSink& sink) -> Component* {
      try {
        const P parsed = parse_params<P>(params);
        return std::apply([&](const auto&... each) { return new C(parsed, each...); }, kept);
      } catch (...) {
        detail::report_current(sink);
        return nullptr;
      }
    };
    return add_made(detail::describe_class<C>(descriptor, P::tenon_fields()), descriptor.destroy, std::move(create));
  }

  /// Every TENON_COMPONENT of the program, or of the shared library, that this call is compiled into.
  [[gnu::visibility("hidden")]] Components& add_linked() { return add(linked()); }

  /// Components by their descriptors, which live as long as the process.
  Components& add(std::span<const ComponentDescriptor* const> descriptors);

  struct Content;

  /// For the library itself.
  [[nodiscard]] const std::shared_ptr<const Content>& content() const noexcept { return content_; }

 private:
  using Create = std::function<Component*(const char* params, const ErrorSink& sink)>;
  using DestroyFunction = void (*)(Component*, const ErrorSink&) noexcept;

  Components& add_made(const detail::Description& description, DestroyFunction destroy, Create create);
  [[nodiscard, gnu::visibility("hidden")]] static std::span<const ComponentDescriptor* const> linked() noexcept;

  std::shared_ptr<const Content> content_;
};

}  // namespace tenon::kernel

// The linker makes these names where any component is linked, for each program and shared library its own.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
extern const ::tenon::ComponentDescriptor* const __start_tenon_components[] __attribute__((weak, visibility("hidden")));
extern const ::tenon::ComponentDescriptor* const __stop_tenon_components[] __attribute__((weak, visibility("hidden")));
}
// NOLINTEND(readability-identifier-naming)

namespace tenon::kernel {

/// Hidden, so that each program and library has its own.
inline std::span<const ComponentDescriptor* const> Components::linked() noexcept {
  return {__start_tenon_components, __stop_tenon_components};
}

}  // namespace tenon::kernel
