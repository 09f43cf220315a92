// Opens plugins and makes components; the only place where foreign code is entered for the first time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <core/json/json.hpp>
#include <core/plugin/catalogue.hpp>
#include <core/plugin/refusal.hpp>
#include <tenon/component.hpp>
#include <tenon/registration.hpp>

namespace tenon::core {

/// An opened plugin. What was opened stays mapped for the life of the process. [trainer]
class OpenedPlugin {
 public:
  /// Opens the file with all symbols bound now and none shared, then compares what it says with its manifest.
  /// \throws Refusal ("missing-library", "missing-symbol", "open", "no-entry", "entry", "drift") naming the file.
  explicit OpenedPlugin(const PluginInfo& info);

  [[nodiscard]] const PluginInfo& info() const noexcept { return info_; }
  [[nodiscard]] const ComponentDescriptor& descriptor(std::string_view kind, std::string_view name) const;

 private:
  void take(const ComponentDescriptor& descriptor, const Json& components);

  PluginInfo info_;
  const PluginEntry* entry_ = nullptr;
  std::map<std::string, const ComponentDescriptor*, std::less<>> descriptors_;
};

/// Owns one component and destroys it through the descriptor that made it. Movable. [trainer]
class ComponentHandle {
 public:
  ComponentHandle() = default;

  /// Constructs the component. `params` is complete: all defaults are in it. \throws Error of the component's own code,
  /// with the parameter's pointer where one is to blame.
  ComponentHandle(const ComponentDescriptor& descriptor, const Json& params);
  ComponentHandle(ComponentHandle&& other) noexcept;
  ComponentHandle& operator=(ComponentHandle&& other) noexcept;
  ~ComponentHandle();

  [[nodiscard]] explicit operator bool() const noexcept { return component_ != nullptr; }
  [[nodiscard]] Component& get() const noexcept { return *component_; }
  [[nodiscard]] const ComponentDescriptor& descriptor() const noexcept { return *descriptor_; }

  /// The component as its interface: `handle.as<Dataset>()`. \throws Refusal ("interface") when it is of another kind.
  template <class Interface>
  [[nodiscard]] Interface& as() const {
    require(Interface::kInterface, Interface::kRevision);
    return static_cast<Interface&>(*component_);
  }

  /// Destroys the component now. \throws Error with what its destructor reported; the handle is empty then too.
  void reset();

 private:
  void require(std::string_view interface, uint32_t revision) const;

  const ComponentDescriptor* descriptor_ = nullptr;
  Component* component_ = nullptr;
};

/// The opened plugins of one run. Handles may outlive it. [trainer]
class Loader {
 public:
  explicit Loader(Catalogue catalogue) : catalogue_(std::move(catalogue)) {}

  [[nodiscard]] const Catalogue& catalogue() const noexcept { return catalogue_; }

  /// Makes a component, opening its plugin first where that has not happened yet. The catalogue decides: a component of
  /// a refused plugin throws Refusal with that plugin's reason, an unknown one Error (kConfig).
  [[nodiscard]] ComponentHandle create(std::string_view id, const Json& params);

  /// Opens the plugin of that id unless it is open. A built-in one cannot be opened.
  const OpenedPlugin& open(std::string_view plugin);

  /// Plugins opened so far, in the order of opening.
  [[nodiscard]] std::span<const std::unique_ptr<OpenedPlugin>> opened() const noexcept { return opened_; }

 private:
  Catalogue catalogue_;
  std::vector<std::unique_ptr<OpenedPlugin>> opened_;
};

}  // namespace tenon::core
