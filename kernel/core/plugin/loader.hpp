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
#include <core/plugin/linked.hpp>
#include <core/plugin/refusal.hpp>
#include <core/process/breadcrumb.hpp>
#include <core/schema/annotations.hpp>
#include <tenon/component.hpp>
#include <tenon/registration.hpp>

namespace tenon::core {

/// An opened plugin. What was opened stays mapped for the life of the process. [trainer]
class OpenedPlugin {
 public:
  /// Opens the file with all symbols bound now and none shared, then compares what it says with its manifest. A plugin
  /// that is part of the program is there already. \throws Refusal ("missing-library", "missing-symbol", "open",
  /// "no-entry", "entry", "drift") naming the file.
  explicit OpenedPlugin(const PluginInfo& info);

  [[nodiscard]] const PluginInfo& info() const noexcept { return info_; }
  [[nodiscard]] const ComponentDescriptor& descriptor(std::string_view kind, std::string_view name) const;

  /// What makes a component in the descriptor's place, or nullptr where the descriptor does.
  [[nodiscard]] const CreateComponent* create(std::string_view kind, std::string_view name) const;

 private:
  void take(const ComponentDescriptor& descriptor, const Json& components);

  PluginInfo info_;
  const PluginEntry* entry_ = nullptr;
  std::map<std::string, const ComponentDescriptor*, std::less<>> descriptors_;
};

/// Owns one component and destroys it through the descriptor that made it, then the components that it was given as
/// parameters; leaves them as they are where the callee says that a thread does not come back from it. Movable. [trainer]
class ComponentHandle {
 public:
  ComponentHandle() = default;

  /// Constructs the component. `params` is complete: all defaults are in it. \throws Error of the component's own code,
  /// with the parameter's pointer where one is to blame. `callee` is what crash reports call it; `create`, where there
  /// is one, makes it instead of the descriptor.
  ComponentHandle(const ComponentDescriptor& descriptor, const Json& params, const Callee* callee = nullptr,
                  const CreateComponent* create = nullptr);
  ComponentHandle(ComponentHandle&& other) noexcept;
  ComponentHandle& operator=(ComponentHandle&& other) noexcept;
  ~ComponentHandle();

  [[nodiscard]] explicit operator bool() const noexcept { return component_ != nullptr; }
  [[nodiscard]] Component& get() const noexcept { return *component_; }
  [[nodiscard]] const ComponentDescriptor& descriptor() const noexcept { return *descriptor_; }

  /// For Entered, around every call into the component. May be nullptr.
  [[nodiscard]] const Callee* callee() const noexcept { return callee_; }

  /// The component as its interface: `handle.as<Dataset>()`. \throws Refusal ("interface") when it is of another kind.
  template <class Interface>
  [[nodiscard]] Interface& as() const {
    require(Interface::kInterface, Interface::kRevision);
    return static_cast<Interface&>(*component_);
  }

  /// Hands an inner component over and keeps it for as long as this one. `pointer` is its place below the parameters.
  /// \throws Error (kPlugin) when this component lacks the ability to take one, and what it throws itself.
  void adopt(const std::string& pointer, ComponentHandle inner);

  /// Destroys the component now. \throws Error with what its destructor reported, or that of an inner one; the handle
  /// is empty then too.
  void reset();

 private:
  void require(std::string_view interface, uint32_t revision) const;
  void destroy_all(const ErrorSink& sink) noexcept;

  const ComponentDescriptor* descriptor_ = nullptr;
  const Callee* callee_ = nullptr;
  Component* component_ = nullptr;
  std::vector<ComponentHandle> inner_;  // in the order of their creation
};

/// The opened plugins of one run. Handles may outlive it. [trainer]
class Loader {
 public:
  explicit Loader(Catalogue catalogue) : catalogue_(std::move(catalogue)) {}

  [[nodiscard]] const Catalogue& catalogue() const noexcept { return catalogue_; }

  /// Makes a component and hands it those that its parameters name, opening their plugins first where that has not
  /// happened yet. The catalogue decides: a component of a refused plugin throws Refusal with that plugin's reason, an
  /// unknown one Error (kConfig). An error of an inner component names it, its plugin and its place, and has the
  /// pointer below the outer one's parameters. `node` is what crash reports call the place in the pipeline.
  [[nodiscard]] ComponentHandle create(std::string_view id, const Json& params, std::string_view node = {});

  /// Opens the plugin of that id unless it is open. A built-in one cannot be opened.
  const OpenedPlugin& open(std::string_view plugin);

  /// Plugins opened so far, in the order of opening.
  [[nodiscard]] std::span<const std::unique_ptr<OpenedPlugin>> opened() const noexcept { return opened_; }

 private:
  [[nodiscard]] ComponentHandle create_inner(const NestedPlace& place, const Json& params, std::string_view node);

  Catalogue catalogue_;
  std::vector<std::unique_ptr<OpenedPlugin>> opened_;
};

}  // namespace tenon::core
