// Finds plugins' files, reads their manifests, and decides which are taken.
#include <core/plugin/catalogue.hpp>

#include <sys/stat.h>
#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include <core/plugin/builtin.hpp>
#include <core/plugin/elf.hpp>
#include <core/plugin/fingerprint.hpp>
#include <core/plugin/refusal.hpp>
#include <tenon/registration.hpp>

namespace tenon::core {
namespace {

namespace fs = std::filesystem;

/// Files to look at, in order of precedence, each once.
struct Candidate {
  fs::path path;
  bool trusted = false;
  std::string distrust;  ///< Why its folder is not trusted.
};

std::vector<fs::path> libraries_in(const fs::path& folder, std::vector<std::string>& warnings) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    if (entries->path().extension() == ".so") files.push_back(entries->path());
  }
  if (error) warnings.push_back(fmt::format("plugins in {} cannot be listed: {}", folder.string(), error.message()));
  std::ranges::sort(files);
  return files;
}

std::vector<Candidate> candidates_in(const SearchPath& path, std::vector<std::string>& warnings) {
  std::vector<Candidate> candidates;
  std::set<std::pair<dev_t, ino_t>> trusted;
  std::set<std::pair<dev_t, ino_t>> others;
  for (const SearchFolder& folder : path.folders) {
    struct stat status = {};
    if (::stat(folder.path.c_str(), &status) != 0) continue;
    const bool is_folder = S_ISDIR(status.st_mode);
    const std::string reason = distrust(is_folder ? folder.path : folder.path.parent_path(), folder.trusted);
    for (const fs::path& file : is_folder ? libraries_in(folder.path, warnings) : std::vector{folder.path}) {
      struct stat target = {};
      const bool found = ::stat(file.c_str(), &target) == 0;
      const std::pair<dev_t, ino_t> identity{target.st_dev, target.st_ino};
      // A link in a folder that is not trusted must not hide the file itself.
      if (found && (trusted.contains(identity) || !(reason.empty() ? trusted : others).insert(identity).second))
        continue;
      candidates.push_back({file, folder.trusted, reason});
    }
  }
  return candidates;
}

void require_trust(const fs::path& path, bool trusted) {
  if (const std::string reason = distrust(path, trusted); !reason.empty()) throw Refusal("untrusted", reason);
}

void check_trust(const Candidate& candidate) {
  if (!candidate.distrust.empty()) throw Refusal("untrusted", candidate.distrust);
  std::error_code error;
  if (!fs::is_symlink(candidate.path, error)) return require_trust(candidate.path, candidate.trusted);
  // A link may lead out of the folder that was checked: the file itself and the folder where it lies count then.
  const fs::path real = fs::canonical(candidate.path, error);
  if (error) throw Refusal("unreadable", fmt::format("it leads nowhere: {}", error.message()));
  require_trust(real, candidate.trusted);
  require_trust(real.parent_path(), candidate.trusted);
}

/// `agreed` is one that has been compared already: most plugins have the same.
void check_fingerprint(const PluginInfo& plugin, std::string& agreed) {
  if (plugin.fingerprint == agreed) return;
  const std::string difference = fingerprint_difference(plugin.fingerprint, host_fingerprint());
  if (!difference.empty()) throw Refusal("fingerprint", difference);
  agreed = plugin.fingerprint;
}

}  // namespace

struct Catalogue::Content {
  std::vector<PluginInfo> plugins;
  std::vector<RefusedPlugin> refused;
  std::vector<std::string> warnings;
  std::map<std::string, const ComponentInfo*, std::less<>> components;

  std::string agreed_fingerprint;

  // Whose each name is, while plugins are being added.
  std::map<std::string, size_t, std::less<>> owner_of_id;
  std::map<std::string, size_t, std::less<>> owner_of_component;
  std::map<std::string, size_t, std::less<>> owner_of_namespace;

  /// What stands in the way of taking `plugin` beside those that are there.
  void check_beside(const PluginInfo& plugin) const;
  void add(PluginInfo plugin);
  void read(const Candidate& candidate);
  void finish();
};

void Catalogue::Content::check_beside(const PluginInfo& plugin) const {
  const auto owner = [this](const auto& owners, const std::string& name) -> const PluginInfo* {
    const auto found = owners.find(name);
    return found == owners.end() ? nullptr : &plugins[found->second];
  };
  const auto place = [](const PluginInfo& other) {
    return other.built_in() ? "the kernel itself" : other.path.string();
  };
  if (const PluginInfo* other = owner(owner_of_id, plugin.id)) {
    throw Refusal("duplicate-id",
                  fmt::format("plugin {} {} is taken from {} already, where it has version {}: remove one of "
                              "the two",
                              plugin.id, plugin.version, place(*other), other->version));
  }
  for (const ComponentInfo& component : plugin.components) {
    if (const PluginInfo* other = owner(owner_of_component, component.id())) {
      throw Refusal("duplicate-component",
                    fmt::format("{} is brought by plugin {} ({}) already: rename it, or remove one of "
                                "the two plugins",
                                component.id(), other->id, place(*other)));
    }
  }
  for (const std::string& name : plugin.namespaces) {
    if (const PluginInfo* other = owner(owner_of_namespace, name)) {
      throw Refusal(
          "duplicate-namespace",
          fmt::format("the torch operator namespace {} is registered by plugin {} ({}) already, and two would end the "
                      "process: remove one of the two plugins",
                      name, other->id, place(*other)));
    }
  }
}

void Catalogue::Content::add(PluginInfo plugin) {
  try {
    check_beside(plugin);
    owner_of_id.emplace(plugin.id, plugins.size());
    for (const ComponentInfo& component : plugin.components) {
      owner_of_component.emplace(component.id(), plugins.size());
    }
    for (const std::string& name : plugin.namespaces) {
      owner_of_namespace.emplace(name, plugins.size());
    }
    plugins.push_back(std::move(plugin));
  } catch (const Refusal& refusal) {
    RefusedPlugin entry{plugin.path, refusal.reason(), refusal.what(), plugin.id, {}};
    for (const ComponentInfo& component : plugin.components) {
      entry.components.push_back(component.id());
    }
    refused.push_back(std::move(entry));
  }
}

void Catalogue::Content::read(const Candidate& candidate) {
  ManifestIdentity identity;
  try {
    const ElfFile file(candidate.path);
    const Json manifest = manifest_in(file);
    identity = identity_of(manifest);
    check_trust(candidate);
    PluginInfo plugin = read_plugin(file, manifest);
    check_fingerprint(plugin, agreed_fingerprint);
    add(std::move(plugin));
  } catch (const Refusal& refusal) {
    refused.push_back({candidate.path, refusal.reason(), refusal.what(), identity.id, identity.components});
  }
}

void Catalogue::Content::finish() {
  std::ranges::sort(plugins, {}, [](const PluginInfo& plugin) { return std::pair(!plugin.built_in(), plugin.id); });
  for (const PluginInfo& plugin : plugins) {
    for (const ComponentInfo& component : plugin.components) {
      components.emplace(component.id(), &component);
    }
  }
}

Catalogue Catalogue::scan(const SearchPath& path) {
  auto content = std::make_shared<Content>();
  content->warnings = path.warnings;
  content->add(kernel_plugin());
  for (const Candidate& candidate : candidates_in(path, content->warnings)) {
    content->read(candidate);
  }
  content->finish();
  return Catalogue(std::move(content));
}

Catalogue Catalogue::of(std::vector<PluginInfo> plugins, std::vector<RefusedPlugin> refused) {
  auto content = std::make_shared<Content>();
  content->refused = std::move(refused);
  content->add(kernel_plugin());
  for (PluginInfo& plugin : plugins) {
    content->add(std::move(plugin));
  }
  content->finish();
  return Catalogue(std::move(content));
}

Catalogue Catalogue::with(std::vector<PluginInfo> plugins) const {
  auto content = std::make_shared<Content>();
  content->refused = content_->refused;
  content->warnings = content_->warnings;
  for (const PluginInfo& plugin : content_->plugins) content->add(plugin);
  for (PluginInfo& plugin : plugins) content->add(std::move(plugin));
  content->finish();
  return Catalogue(std::move(content));
}

const ComponentInfo* Catalogue::find(std::string_view kind, std::string_view name) const noexcept {
  return find(fmt::format("{}:{}", kind, name));
}

const ComponentInfo* Catalogue::find(std::string_view id) const noexcept {
  const auto found = content_->components.find(id);
  return found == content_->components.end() ? nullptr : found->second;
}

const ComponentInfo& Catalogue::at(std::string_view id) const {
  if (const ComponentInfo* component = find(id)) return *component;
  if (const RefusedPlugin* plugin = refused_with(id))
    throw Refusal(plugin->reason, fmt::format("{}: {}", id, why_missing(id)));
  throw Error(ErrorCode::kConfig, fmt::format("no plugin brings {}", id));
}

std::vector<const ComponentInfo*> Catalogue::of_kind(std::string_view kind) const {
  std::vector<const ComponentInfo*> found;
  for (const auto& [id, component] : content_->components) {
    if (component->kind == kind) found.push_back(component);
  }
  return found;
}

std::vector<std::string> Catalogue::ids() const {
  std::vector<std::string> all;
  for (const auto& [id, component] : content_->components) {
    all.push_back(id);
  }
  return all;
}

std::span<const PluginInfo> Catalogue::plugins() const noexcept { return content_->plugins; }

const PluginInfo* Catalogue::plugin(std::string_view id) const noexcept {
  const auto found = std::ranges::find(content_->plugins, id, &PluginInfo::id);
  return found == content_->plugins.end() ? nullptr : &*found;
}

const PluginInfo& Catalogue::plugin_of(const ComponentInfo& component) const {
  const PluginInfo* found = plugin(component.plugin);
  if (found == nullptr)
    throw Error(ErrorCode::kPlugin, fmt::format("no plugin {} is there for {}", component.plugin, component.id()));
  return *found;
}

std::span<const RefusedPlugin> Catalogue::refused() const noexcept { return content_->refused; }

const RefusedPlugin* Catalogue::refused_with(std::string_view id) const noexcept {
  const auto found = std::ranges::find_if(content_->refused, [id](const RefusedPlugin& plugin) {
    return std::ranges::find(plugin.components, id) != plugin.components.end();
  });
  return found == content_->refused.end() ? nullptr : &*found;
}

std::string Catalogue::why_missing(std::string_view id) const {
  const RefusedPlugin* plugin = refused_with(id);
  if (plugin == nullptr || find(id) != nullptr) return {};
  return fmt::format("plugin {} ({}) brings it but is refused: {}", plugin->id, plugin->path.string(), plugin->message);
}

std::span<const std::string> Catalogue::warnings() const noexcept { return content_->warnings; }

}  // namespace tenon::core
