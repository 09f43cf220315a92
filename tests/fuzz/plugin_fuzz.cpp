// What is read of a plugin without opening it. An input that begins with 0x7F is a library, any other is a manifest.
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <core/plugin/elf.hpp>
#include <core/plugin/manifest.hpp>
#include <core/plugin/refusal.hpp>
#include <core/plugin/symbols.hpp>
#include <fuzz/fuzz.hpp>

namespace tenon::core {
namespace {

using fuzz::claim;

constexpr std::array<std::string_view, 5> kOfFiles{"unreadable", "not-elf", "truncated", "corrupt", "architecture"};
constexpr std::array<std::string_view, 6> kOfManifests{"manifest",     "manifest-format", "api",
                                                       "unknown-kind", "revision",        "duplicate-component"};

/// Calls and returns what it gives, or nothing after a refusal, which must be one of those documented.
template <class Function, std::size_t count>
auto allowed(const std::array<std::string_view, count>& reasons, const Function& function) {
  std::optional<decltype(function())> result;
  try {
    result = function();
  } catch (const Refusal& refusal) {
    claim(std::ranges::find(reasons, refusal.reason()) != reasons.end(), "a refusal has a known reason",
          refusal.reason());
    claim(!std::string_view(refusal.what()).empty(), "a refusal says what is wrong");
  }
  return result;
}

bool same(const PluginInfo& a, const PluginInfo& b) {
  const auto facts = [](const PluginInfo& plugin) {
    std::string text =
        fmt::format("{} {} {} {} {}", plugin.id, plugin.version, plugin.licence, plugin.api, plugin.fingerprint);
    for (const std::string& space : plugin.namespaces) text += "|" + space;
    for (const ComponentInfo& each : plugin.components) {
      text += fmt::format("|{} {} {} {} {} {} {} {} {} {}", each.id(), each.summary, each.interface, each.revision,
                          each.parameters.dump(), each.ports.in.size(), each.ports.out.size(), each.metrics.size(),
                          each.abilities.size(), each.traits.size());
    }
    return text;
  };
  return facts(a) == facts(b);
}

void check_manifest(std::string_view text) {
  const std::optional<Json> json = allowed(kOfManifests, [&] { return manifest_json(text); });
  if (!json) return;
  const ManifestIdentity identity = identity_of(*json);
  const std::optional<PluginInfo> plugin = allowed(kOfManifests, [&] { return parse_manifest(*json); });
  if (!plugin) return;
  const std::string anew = json->dump(2);
  claim(same(*plugin, parse_manifest(std::string_view{anew})), "a manifest says the same when written anew", text);
  claim(identity.id == plugin->id && identity.components.size() == plugin->components.size(),
        "the identity of a manifest that is taken is the plugin's", text);
  for (std::size_t i = 0; i < identity.components.size(); ++i) {
    const ComponentInfo& component = plugin->components[i];
    claim(identity.components[i] == component.id(), "a component's identity is its own", text);
    claim(plugin->find(component.kind, component.name) == &component, "a component is found by its name", text);
    claim(component.plugin == plugin->id, "a component knows its plugin", text);
  }
  Json later = *json;
  later["of a later format"] = 1;
  claim(!allowed(kOfManifests, [&] { return parse_manifest(later); }), "an unknown member is refused", text);
}

void check_library(std::string_view bytes) {
  static const FileDescriptor file(::memfd_create("library", MFD_CLOEXEC));
  static const std::filesystem::path path = fmt::format("/proc/self/fd/{}", file.get());
  claim(::ftruncate(file.get(), 0) == 0 &&
            ::pwrite(file.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
        "a file in memory takes the bytes");
  const auto occurs = [bytes](std::string_view part) { return bytes.find(part) != std::string_view::npos; };

  const std::optional<ElfFile> library = allowed(kOfFiles, [] { return ElfFile(path); });
  if (!library) return;
  const auto image = allowed(kOfFiles, [] { return DynamicImage(path); });
  if (image) {
    for (const std::string& name : image->needed()) {
      claim(occurs(name + '\0'), "the name of a library is in the file", name);
    }
    claim(occurs(image->soname()), "a library's name is in the file");
    for (const auto table : {&DynamicImage::undefined, &DynamicImage::defined}) {
      const auto symbols = allowed(kOfFiles, [&] { return ((*image).*table)(); });
      if (!symbols) continue;
      for (const DynamicSymbol& each : *symbols) {
        claim(occurs(each.name), "the name of a symbol is in the file", each.name);
        (void)allowed(kOfFiles, [&] { return image->find(each.name, each.version); });
      }
    }
  }
  const auto id = allowed(kOfFiles, [&] { return library->build_id(); });
  claim(!id || (id->size() % 2 == 0 && id->find_first_not_of("0123456789abcdef") == std::string::npos),
        "a build id is hexadecimal");
  const auto manifest = allowed(kOfFiles, [&] { return library->section(".tenon.manifest"); });
  if (!manifest || !*manifest) return;
  claim(occurs(**manifest), "a section is in the file");
  check_manifest(**manifest);
}

}  // namespace
}  // namespace tenon::core

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string_view input = tenon::fuzz::as_text(data, size);
  if (input.starts_with('\x7f')) {
    tenon::core::check_library(input);
  } else {
    tenon::core::check_manifest(input);
  }
  return 0;
}
