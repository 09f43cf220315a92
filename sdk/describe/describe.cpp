// tenon-describe PLUGIN OUT [ALLOWED...]: looks for what a plugin must not hold, opens it as the linker made it and
// writes its manifest.
#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <describe/elf.hpp>
#include <describe/lint.hpp>
#include <tenon/fingerprint.hpp>
#include <tenon/registration.hpp>

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Whether what it says of itself can be read here. A sanitizer makes no difference for that.
void require_same_containers(const tenon::PluginEntry& entry) {
  const auto of_containers = [](std::string_view fingerprint) {
    return fingerprint.substr(0, fingerprint.find(" sanitize="));
  };
  const std::string_view theirs = of_containers(entry.fingerprint);
  const std::string_view ours = of_containers(TENON_FINGERPRINT);
  if (theirs == ours) return;
  throw Failure(
      fmt::format("was built with \"{}\", but Tenon with \"{}\", so that its strings and containers have another "
                  "layout: leave out what makes the difference (-D_GLIBCXX_DEBUG, -D_GLIBCXX_USE_CXX11_ABI=0)",
                  theirs, ours));
}

const tenon::PluginEntry& open(const fs::path& library) {
  void* handle = ::dlopen(fs::absolute(library).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw Failure(fmt::format("cannot be opened: {}", ::dlerror()));
  }
  void* symbol = ::dlsym(handle, tenon::kEntrySymbol);
  if (symbol == nullptr) {
    throw Failure(fmt::format("does not export {}: was it built with tenon_add_plugin()?", tenon::kEntrySymbol));
  }
  const auto* entry = reinterpret_cast<const tenon::PluginEntry* (*)()>(symbol)();
  if (entry == nullptr || entry->size != sizeof(tenon::PluginEntry) || entry->api != tenon::kApi) {
    throw Failure(
        fmt::format("was built against another version of Tenon's headers: this tool is of revision {}", tenon::kApi));
  }
  require_same_containers(*entry);
  return *entry;
}

ordered_json describe(const tenon::ComponentDescriptor& component) {
  const std::string text = component.describe();
  if (text.empty()) {
    throw Failure(
        fmt::format("component {} cannot describe itself: its ports(), traits() or parameters threw", component.name));
  }
  ordered_json description = ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!description.is_object() || !description.contains("kind")) {
    throw Failure(
        fmt::format("component {} describes itself by something else than a JSON object with a kind", component.name));
  }
  return description;
}

std::vector<std::string> split(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
}

void require_no_fault(const std::vector<std::string>& faults) {
  if (!faults.empty()) throw Failure(fmt::format("{}", fmt::join(faults, "\n  and ")));
}

ordered_json manifest(const fs::path& library, const std::vector<std::string>& allowed) {
  const tenon::PluginEntry& entry = open(library);
  const std::vector<std::string> namespaces = split(entry.namespaces);
  require_no_fault(tenon::describe::lint(tenon::describe::read_symbols(library), namespaces, allowed));

  std::vector<ordered_json> components;
  std::set<std::string> names;
  for (const auto* const* component = entry.begin; component != entry.end; ++component) {
    ordered_json description = describe(**component);
    const std::string name = fmt::format("{}:{}", description["kind"].get<std::string>(), (*component)->name);
    if (!names.insert(name).second) {
      throw Failure(fmt::format("holds two components of the name {}", name));
    }
    components.push_back(std::move(description));
  }
  if (components.empty()) {
    throw Failure("holds no component: a source file names one by TENON_COMPONENT(…)");
  }
  std::sort(components.begin(), components.end(), [](const ordered_json& a, const ordered_json& b) {
    return std::tie(a["kind"].get_ref<const std::string&>(), a["name"].get_ref<const std::string&>()) <
           std::tie(b["kind"].get_ref<const std::string&>(), b["name"].get_ref<const std::string&>());
  });
  return {{"manifest", 1},
          {"id", entry.id},
          {"version", entry.version},
          {"licence", entry.licence},
          {"api", entry.api},
          {"fingerprint", entry.fingerprint},
          {"namespaces", namespaces},
          {"components", components}};
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text << '\n';
  stream.close();
  if (!stream) {
    throw Failure(fmt::format("{} cannot be written", file.string()));
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    fmt::print(
        stderr,
        "usage: tenon-describe PLUGIN OUT [ALLOWED...]\n"
        "Writes the manifest (JSON) of a freshly linked plugin. ALLOWED: functions that it may call although they "
        "change the whole process.\n");
    return 2;
  }
  try {
    const std::vector<std::string> allowed(arguments + 3, arguments + count);
    write(arguments[2], manifest(arguments[1], allowed).dump(1));
  } catch (const std::exception& error) {
    fmt::print(stderr, "tenon-describe: {}: {}\n", arguments[1], error.what());
    return 3;
  }
  return 0;
}
