// What the manifest says, and whether the code says the same.
#include <conformance/case.hpp>

#include <dlfcn.h>

#include <filesystem>
#include <map>
#include <string>

#include <fmt/format.h>

namespace tenon::conformance {
namespace {

void complete(Bench& bench) {
  const Json& manifest = bench.subject().manifest;
  if (manifest.value("summary", "").empty()) {
    bench.fail("the component has no summary", "give TENON_COMPONENT one line for people as its last argument");
  }
  if (!manifest["parameters"].contains("properties")) return;
  for (const auto& [name, property] : manifest["parameters"]["properties"].items()) {
    if (!property.value("description", "").empty()) continue;
    bench.fail(fmt::format("the parameter \"{}\" has no description", name),
               "give tenon::field one line for people as its third argument, with the unit");
  }
}

constexpr Case kComplete{"manifest.complete", "The component and each of its parameters have a line for people.", "",
                         &complete};
TENON_CASE(kComplete);

constexpr const char* kAnew = "build the plugin anew with tenon_add_plugin; what describe() says must be constant";

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

const PluginEntry& entry_of(const std::filesystem::path& plugin) {
  (void)harness::Registry::opened(plugin);  // which also sees to it that there is an entry
  void* const library = ::dlopen(plugin.c_str(), RTLD_NOW | RTLD_NOLOAD);
  return *reinterpret_cast<const PluginEntry* (*)() noexcept>(::dlsym(library, kEntrySymbol))();
}

/// "kind:name" of each component, with all that is said of it.
std::map<std::string, nlohmann::json> by_id(const Json& components) {
  std::map<std::string, nlohmann::json> all;
  for (const Json& each : components) {
    const nlohmann::json plain = nlohmann::json::parse(each.dump());  // sorted, so that order does not count
    all.emplace(fmt::format("{}:{}", plain.value("kind", ""), plain.value("name", "")), plain);
  }
  return all;
}

void drift(Bench& bench) {
  const Json& manifest = bench.subject().manifest;
  bench.doing("asking what it holds");
  const PluginEntry& entry = entry_of(bench.subject().plugin);
  std::string namespaces;
  for (const Json& each : manifest.value("namespaces", Json::array())) {
    namespaces += fmt::format("{}{}", namespaces.empty() ? "" : " ", each.get<std::string>());
  }
  const auto compare = [&](const char* what, const std::string& written, const char* said) {
    if (written == text_or_empty(said)) return;
    bench.fail(fmt::format("the manifest says that its {} is \"{}\", and the code that it is \"{}\"", what, written,
                           text_or_empty(said)),
               kAnew);
  };
  compare("id", manifest.value("id", ""), entry.id);
  compare("version", manifest.value("version", ""), entry.version);
  compare("licence", manifest.value("licence", ""), entry.licence);
  compare("fingerprint", manifest.value("fingerprint", ""), entry.fingerprint);
  compare("torch operator namespaces", namespaces, entry.namespaces);

  Json described = Json::array();
  for (const auto* const* each = entry.begin; each != entry.end; ++each) {
    bench.doing(fmt::format("describe() of {}", (*each)->name));
    const Json said = Json::parse(text_or_empty((*each)->describe()), nullptr, false);
    if (said.is_object()) described.push_back(said);
  }
  const std::map<std::string, nlohmann::json> written = by_id(manifest.value("components", Json::array()));
  const std::map<std::string, nlohmann::json> said = by_id(described);
  for (const auto& [id, text] : written) {
    const auto found = said.find(id);
    if (found == said.end()) {
      bench.fail(fmt::format("the manifest names {}, which the code does not have", id), kAnew);
    } else if (found->second != text) {
      bench.fail(fmt::format("of {} the manifest says {}, and the code says {}", id, text.dump(), found->second.dump()),
                 kAnew);
    }
  }
  for (const auto& [id, text] : said) {
    if (!written.contains(id)) bench.fail(fmt::format("the code has {}, which the manifest does not name", id), kAnew);
  }
}

constexpr Case kDrift{"manifest.drift", "The manifest in the file says of plugin and components what the code says.",
                      "plugin", &drift};
TENON_CASE(kDrift);

void revision(Bench& bench) {
  const Subject& subject = bench.subject();
  const Kind* const kind = find_kind(subject.kind);
  if (kind == nullptr) return bench.fail(fmt::format("this Tenon has no kind {}", subject.kind), "use a newer Tenon");
  const uint32_t theirs = subject.descriptor->revision;
  if (theirs == kind->revision) return;
  const char* const order = theirs < kind->revision ? "older" : "newer";
  bench.fail(fmt::format("it was built for {} revision {}, which is {} than this Tenon's revision {}",
                         subject.descriptor->interface, theirs, order, kind->revision),
             theirs < kind->revision ? "rebuild the plugin with this Tenon's SDK"
                                     : "use a newer Tenon, or rebuild the plugin with this one's SDK");
}

constexpr Case kRevision{"manifest.revision", "The component was built for this Tenon's revision of its interface.", "",
                         &revision};
TENON_CASE(kRevision);

}  // namespace
}  // namespace tenon::conformance
