// What the objects of the public headers hold.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <core/graph/build.hpp>
#include <core/plugin/catalogue.hpp>
#include <core/plugin/linked.hpp>
#include <core/process/crash_handlers.hpp>
#include <core/resolve/resolve.hpp>
#include <tenon/kernel/runtime.hpp>

namespace tenon::kernel {

struct Components::Content {
  std::string id;
  std::string version;
  std::vector<core::LinkedEntry> entries;

  [[nodiscard]] core::PluginInfo plugin() const { return core::linked_plugin(id, version, entries); }
};

struct Pipeline::Content {
  core::Catalogue catalogue;
  core::Resolved unbuilt;   ///< Before the components' defaults.
  core::Resolved resolved;  ///< With them.
  core::Graph graph;
  std::vector<Diagnostic> warnings;
};

class Runtime::Content {
 public:
  Content(const RuntimeOptions& options, const std::vector<Components>& own);

  [[nodiscard]] const RuntimeOptions& options() const noexcept { return options_; }
  [[nodiscard]] const core::Catalogue& catalogue() const noexcept { return catalogue_; }

 private:
  RuntimeOptions options_;
  core::Catalogue catalogue_;
  std::unique_ptr<core::CrashHandlers> crash_handlers_;
};

/// What was found, and components of the program. \throws core::Refusal where one of these cannot be had beside it.
[[nodiscard]] core::Catalogue with_linked(const core::Catalogue& found, std::vector<core::PluginInfo> linked);

/// Resolves, builds and checks; what was found and is no error becomes warnings(). \throws Error.
[[nodiscard]] std::shared_ptr<const Pipeline::Content> read_pipeline(const core::ResolveRequest& request,
                                                                     const core::Catalogue& catalogue,
                                                                     core::GraphRules rules, std::string_view outcome);

/// A request that knows which parameters of the catalogue's components are secret.
[[nodiscard]] core::ResolveRequest resolve_request(const std::filesystem::path& file,
                                                   const std::vector<std::filesystem::path>& overlays,
                                                   const std::vector<std::string>& sets,
                                                   const core::Catalogue& catalogue);

}  // namespace tenon::kernel
