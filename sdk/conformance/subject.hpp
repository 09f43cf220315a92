// The component that is tried, and what its manifest says of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <conformance/schema_values.hpp>
#include <tenon/example.hpp>
#include <tenon/harness/components.hpp>
#include <tenon/ports.hpp>

namespace tenon::conformance {

struct Subject {
  std::string kind;
  std::string name;
  Json manifest;  ///< Its entry in the manifest's "components".
  const ComponentDescriptor* descriptor = nullptr;
  harness::Registry registry;     ///< Of its plugin, and what components may take as parameters.
  std::filesystem::path plugin;   ///< Its file.
  std::filesystem::path scratch;  ///< A folder of its own, empty at the start of a case apart from the example's files.
  uint64_t seed = 1;

  [[nodiscard]] std::string id() const { return kind + ":" + name; }
  [[nodiscard]] const Json& schema() const { return manifest.at("parameters"); }
  [[nodiscard]] bool has(const char* list, const std::string& entry) const;

  /// The parameters of the example with paths into `scratch`, or plain ones where there is no example.
  [[nodiscard]] Json first_params() const;

  /// Writes the example's files into the scratch folder.
  void write_files() const;

  /// The example's inputs; empty where it names none.
  [[nodiscard]] std::vector<ExampleInput> example_inputs() const;

  /// \throws Error as the component does.
  [[nodiscard]] harness::Made<Component> make(const Json& params) const;
};

/// Every value whose schema says "x-path" made absolute below `folder`.
[[nodiscard]] Json with_paths_below(Json value, const Json& schema, const std::filesystem::path& folder);

}  // namespace tenon::conformance
