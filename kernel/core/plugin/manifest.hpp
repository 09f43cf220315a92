// What a plugin says of itself: the manifest that travels in its file, as values.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <core/json/json.hpp>
#include <tenon/ports.hpp>

namespace tenon::core {

class ElfFile;
struct LinkedPlugin;

using PortRule = Port;

/// One component of a plugin: all that can be known of it without opening the plugin.
struct ComponentInfo {
  std::string kind;       ///< "loss"
  std::string name;       ///< "cross_entropy"
  std::string summary;    ///< One line for people.
  std::string interface;  ///< "tenon.loss"
  uint32_t revision = 0;
  Json parameters;                    ///< Draft 7 schema of `with`.
  Ports ports;                        ///< What it takes and gives, as rules: lists of PortRule.
  std::vector<MetricOutput> metrics;  ///< Values of a metric; the first is the one that a bare reference means.
  std::vector<std::string> abilities;
  std::vector<std::string> traits;
  std::string plugin;  ///< Id of the plugin that brings it.

  /// "loss:cross_entropy"
  [[nodiscard]] std::string id() const { return kind + ":" + name; }
  [[nodiscard]] bool has_trait(std::string_view trait) const noexcept;
  [[nodiscard]] bool has_ability(std::string_view ability) const noexcept;
};

/// One plugin: its manifest, and what its file says beside it.
struct PluginInfo {
  std::string id;  ///< "org.tenon.losses"
  std::string version;
  std::string licence;
  uint32_t api = 0;
  std::string fingerprint;
  std::vector<std::string> namespaces;  ///< Torch operator namespaces that it registers.
  std::vector<ComponentInfo> components;

  std::filesystem::path path;       ///< Absolute; empty for what the kernel itself brings.
  std::string build_id;             ///< Hex, may be empty.
  std::vector<std::string> needed;  ///< Libraries that it asks the loader for.
  /// Part of the running program, whose file `path` is: nothing is opened. Null for a plugin of its own.
  std::shared_ptr<const LinkedPlugin> linked = {};

  [[nodiscard]] bool built_in() const noexcept { return path.empty(); }
  [[nodiscard]] const ComponentInfo* find(std::string_view kind, std::string_view name) const noexcept;

  /// Needs libtorch: its fingerprint says so.
  [[nodiscard]] bool over_libtorch() const noexcept { return fingerprint.find(" libtorch=") != std::string::npos; }
};

/// A manifest's text as JSON. \throws Refusal ("manifest") for text that is not JSON, or that would steer a terminal
/// where it is shown. [any thread]
[[nodiscard]] Json manifest_json(std::string_view text);

/// The manifest that travels in a plugin's file. \throws Refusal ("no-manifest", "manifest"). [any thread]
[[nodiscard]] Json manifest_in(const ElfFile& file);

/// Which revisions of the interfaces and of the plugin API are taken: those that this Tenon has, or all, for comparing.
enum class Revisions { kOurs, kAny };

/// A manifest as values; `path`, `build_id` and `needed` stay empty. An unknown member is refused, so that a manifest
/// of a later format is not half understood. \throws Refusal ("manifest", "manifest-format", "api", "unknown-kind",
/// "revision") with the JSON pointer of what is wrong. [any thread]
[[nodiscard]] PluginInfo parse_manifest(const Json& manifest, Revisions revisions = Revisions::kOurs);
[[nodiscard]] PluginInfo parse_manifest(std::string_view text);

/// One entry of "components", also what a descriptor's describe() returns; `pointer` says where it stands.
/// \throws Refusal ("manifest", "unknown-kind", "revision").
[[nodiscard]] ComponentInfo parse_component(const Json& json, const std::string& pointer,
                                            Revisions revisions = Revisions::kOurs);

/// A plugin's file as values: its manifest with path, build id and needed libraries. `manifest` is the one in the file.
/// \throws Refusal as parse_manifest and ElfFile do. [any thread]
[[nodiscard]] PluginInfo read_plugin(const ElfFile& file, const Json& manifest, Revisions revisions = Revisions::kOurs);

/// As much of a manifest's identity as can be read of one that parse_manifest refuses.
struct ManifestIdentity {
  std::string id;
  std::vector<std::string> components;  ///< "kind:name"
};
[[nodiscard]] ManifestIdentity identity_of(const Json& manifest);

}  // namespace tenon::core
