// Makes components for a test as a host makes them, without a pipeline.
//
//   const auto cutout = tenon::harness::make<tenon::Transform>("cutout", R"({"size": 3})");
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tenon/component.hpp>
#include <tenon/registration.hpp>

namespace tenon::harness {

/// Destroys a component through the descriptor that made it, then the ones that it was given as parameters.
struct Destroy {
  const ComponentDescriptor* descriptor = nullptr;
  std::vector<std::shared_ptr<Component>> inner{};

  void operator()(Component* component) const noexcept;
};

/// A component that the test owns.
template <class Kind>
using Made = std::unique_ptr<Kind, Destroy>;

/// Descriptors by interface and name. A value; the descriptors live as long as their program or plugin is mapped.
class Registry {
 public:
  /// All components that are linked into this program: what `tenon_add_plugin_test` puts there.
  [[nodiscard]] static Registry linked();

  /// The components of a built plugin, which stays open for the life of the process.
  /// \throws Error (kPlugin) with the loader's own message when the file cannot be opened or is no plugin.
  [[nodiscard]] static Registry opened(const std::filesystem::path& plugin);

  /// \throws Error (kPlugin) that lists the names there are.
  [[nodiscard]] const ComponentDescriptor& at(std::string_view interface, std::string_view name) const;

  /// In the order of the linker.
  [[nodiscard]] const std::vector<const ComponentDescriptor*>& all() const noexcept { return descriptors_; }

  /// Also those of another registry, for components that take components of other plugins.
  void add(const Registry& other);

  /// Makes a component from its parameters as JSON text; those that are missing keep their defaults. A component that
  /// stands as a parameter, `{"use": "transform:name", "with": {…}}`, is made from this registry and handed over.
  /// \throws Error as the component reported it, with the pointer of the parameter to blame.
  [[nodiscard]] Made<Component> create(const ComponentDescriptor& descriptor, const std::string& params) const;

  /// registry.make<Loss>("cross_entropy", R"({"label_smoothing": 0.1})"). \throws Error, like `at` and `create`.
  template <class Kind>
  [[nodiscard]] Made<Kind> make(std::string_view name, const std::string& params = "{}") const {
    return as<Kind>(create(at(Kind::kInterface, name), params));
  }

  /// The same component seen as the interface that it is known to have.
  template <class Kind>
  [[nodiscard]] static Made<Kind> as(Made<Component> made) noexcept {
    Destroy destroy = std::move(made.get_deleter());
    return Made<Kind>(static_cast<Kind*>(made.release()), std::move(destroy));
  }

 private:
  std::vector<const ComponentDescriptor*> descriptors_;
};

/// A component that is linked into this program. \throws Error, like Registry::at and Registry::create.
template <class Kind>
[[nodiscard]] Made<Kind> make(std::string_view name, const std::string& params = "{}") {
  return Registry::linked().make<Kind>(name, params);
}

/// The ability of a component, as its interface, or nullptr: `ability<Fitted>(*transform)`.
template <class Ability>
[[nodiscard]] Ability* ability(Component& component) noexcept {
  return static_cast<Ability*>(component.ability(Ability::kAbility));
}

/// The error that `action` throws. Without one, an error with the text "nothing was thrown". Another exception passes.
template <class Action>
[[nodiscard]] Error error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorCode::kPlugin, "nothing was thrown"};
}

}  // namespace tenon::harness
