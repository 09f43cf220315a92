// All components that are installed, known from manifests alone.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <core/plugin/manifest.hpp>
#include <core/plugin/search_path.hpp>

namespace tenon::core {

/// A file that was found and not taken.
struct RefusedPlugin {
  std::filesystem::path path;
  std::string reason;                   ///< Stable identifier: "no-manifest", "fingerprint", "duplicate-id", …
  std::string message;                  ///< For people: what is wrong and what to do. Does not repeat the path.
  std::string id;                       ///< The plugin's id, where it could be read.
  std::vector<std::string> components;  ///< "kind:name" of what it would bring, where that could be read.
};

/// Immutable; a copy shares the content, and pointers into it stay valid as long as one copy lives. [any thread]
class Catalogue {
 public:
  /// Reads the manifest of every *.so in the folders; opens nothing. The kernel's own components are always there.
  /// A file that cannot be taken is listed in refused(); of two with one id, one component or one torch namespace, the
  /// one found first stays. Missing folders are skipped.
  [[nodiscard]] static Catalogue scan(const SearchPath& path);

  /// A catalogue of given plugins, first come first kept, as scan() does after reading; the kernel's own components are
  /// there too. For embedders and tests.
  [[nodiscard]] static Catalogue of(std::vector<PluginInfo> plugins, std::vector<RefusedPlugin> refused = {});

  /// This catalogue and further plugins behind its own.
  [[nodiscard]] Catalogue with(std::vector<PluginInfo> plugins) const;

  /// The component, or nullptr.
  [[nodiscard]] const ComponentInfo* find(std::string_view kind, std::string_view name) const noexcept;

  /// By "kind:name".
  [[nodiscard]] const ComponentInfo* find(std::string_view id) const noexcept;

  /// The component by "kind:name". \throws Error: kPlugin where only a refused plugin brings it, with that plugin's
  /// reason; kConfig where nothing does.
  [[nodiscard]] const ComponentInfo& at(std::string_view id) const;

  /// All components of a kind, by name.
  [[nodiscard]] std::vector<const ComponentInfo*> of_kind(std::string_view kind) const;

  /// All "kind:name", sorted: what a misspelt `use` is compared with.
  [[nodiscard]] std::vector<std::string> ids() const;

  /// By id; the kernel's own comes first.
  [[nodiscard]] std::span<const PluginInfo> plugins() const noexcept;

  /// The plugin of that id, or nullptr.
  [[nodiscard]] const PluginInfo* plugin(std::string_view id) const noexcept;

  /// The plugin that brings the component.
  [[nodiscard]] const PluginInfo& plugin_of(const ComponentInfo& component) const;

  [[nodiscard]] std::span<const RefusedPlugin> refused() const noexcept;

  /// The first refused plugin that would bring "kind:name", or nullptr.
  [[nodiscard]] const RefusedPlugin* refused_with(std::string_view id) const noexcept;

  /// "plugin X (PATH) brings it but is refused: …", or empty.
  [[nodiscard]] std::string why_missing(std::string_view id) const;

  /// What the search path left out.
  [[nodiscard]] std::span<const std::string> warnings() const noexcept;

 private:
  struct Content;
  explicit Catalogue(std::shared_ptr<const Content> content) : content_(std::move(content)) {}

  std::shared_ptr<const Content> content_;
};

}  // namespace tenon::core
