// The loader's work replayed on tables: libraries, versions, symbols, and whose definition each gets.
#include <core/plugin/preflight.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <core/plugin/debian_packages.hpp>
#include <core/plugin/mangled_names.hpp>
#include <core/plugin/open_library.hpp>
#include <core/plugin/refusal.hpp>
#include <core/plugin/search_path.hpp>
#include <tenon/registration.hpp>

namespace tenon::core {
namespace {

namespace fs = std::filesystem;

using Libraries = std::vector<const DynamicImage*>;

constexpr std::size_t kShown = 3;                                            // symbols that a message names
constexpr const char* kDispatcher = "_ZN3c1010Dispatcher13realSingletonEv";  // one in each libtorch

std::string name_of(const DynamicImage& library) { return library.path().filename().string(); }

PluginFinding error(std::string code, std::string message) {
  return {Severity::kError, std::move(code), std::move(message)};
}

PluginFinding warning(std::string code, std::string message) {
  return {Severity::kWarning, std::move(code), std::move(message)};
}

/// "a, b, c and 4 more"
std::string shown(const std::vector<std::string>& symbols) {
  const std::size_t count = std::min(kShown, symbols.size());
  std::string text = fmt::format("{}", fmt::join(symbols.begin(), symbols.begin() + static_cast<int64_t>(count), ", "));
  if (symbols.size() > count) text += fmt::format(" and {} more", symbols.size() - count);
  return text;
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> starts) {
  return std::ranges::any_of(starts, [&](std::string_view start) { return text.starts_with(start); });
}

/// Every C++ program shares these; a copy of their functions elsewhere is meant to give way.
bool is_system_runtime(const DynamicImage& library) {
  return starts_with_any(name_of(library), {"libc.so", "libm.so", "libgcc_s.so", "libstdc++.so", "ld-linux", "libdl.so",
                                            "libpthread.so", "librt.so"});
}

bool is_libtorch_name(std::string_view name) {
  return starts_with_any(name, {"libtorch", "libc10"}) && name.find(".so") != std::string_view::npos;
}

/// BLAS and LAPACK are one interface with many makers: which of them answers is a matter of speed.
bool is_linear_algebra(std::string_view symbol) {
  return !symbol.starts_with("_Z") && (symbol.ends_with('_') || starts_with_any(symbol, {"cblas_", "LAPACKE_"}));
}

/// Ends of sections that the linker puts into every library.
bool is_linker_mark(std::string_view symbol) {
  return symbol == "_edata" || symbol == "_end" || symbol == "__bss_start" || symbol == "_init" || symbol == "_fini";
}

/// What the distribution put together: that its libraries get along is its care.
bool is_of_distribution(const DynamicImage& library) {
  return starts_with_any(library.path().native(), {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"});
}

/// "liba.so, which libb.so needs"
std::string asker(const std::vector<fs::path>& chain) {
  std::string text = chain.back().filename().string();
  for (std::size_t i = chain.size() - 1; i-- > 0;) {
    text +=
        fmt::format("{} {} needs", i + 2 == chain.size() ? ", which" : ", which in turn", chain[i].filename().string());
  }
  return text;
}

std::string cure_for_library(const std::string& name) {
  if (name.starts_with("libtorch_cuda.so") || name.starts_with("libc10_cuda.so")) {
    return "it is libtorch's half for GPUs, which is opened where run.device is \"cuda\", or \"auto\" on a machine "
           "with "
           "an NVIDIA driver: use a libtorch with CUDA and run there";
  }
  if (name == "libtorch.so") {
    return "Tenon opens libtorch_cpu.so and libc10.so by themselves: link to those, as tenon_add_plugin(… TORCH) does";
  }
  if (const std::string_view source = source_of_library(name); !source.empty()) {
    return fmt::format("install it ({}), or add its folder to LD_LIBRARY_PATH", source);
  }
  if (const std::vector<PackagedFile> packages = packages_with(name); !packages.empty()) {
    return fmt::format(
        "it lies in {} (Debian: {}): add that folder to LD_LIBRARY_PATH, or name it in the RUNPATH of who "
        "needs it",
        packages.front().path.parent_path().string(), packages.front().package);
  }
  if (const std::string package = package_name(name); !package.empty()) {
    return fmt::format(
        "install it (on Debian its package is called {} where the usual rule is kept), or add its folder "
        "to LD_LIBRARY_PATH",
        package);
  }
  return "install it, or add its folder to LD_LIBRARY_PATH";
}

PluginFinding missing_library(const MissingLibrary& missing) {
  if (missing.found) {
    return error("unusable-library",
                 fmt::format("{} asks for {}, and the loader would take {}, but {}", asker(missing.chain), missing.name,
                             missing.found->string(), missing.damage));
  }
  return error("missing-library",
               fmt::format("{} asks for {}, which is not there; looked for in: {}; {}", asker(missing.chain),
                           missing.name, fmt::join(missing.looked, ", "), cure_for_library(missing.name)));
}

struct Owner {
  std::string_view name;
  std::string_view cure;
};

/// Which library should have a symbol, as far as its namespace tells.
Owner owner_of(std::string_view symbol) {
  constexpr std::string_view kSdk = "rebuild the plugin with this Tenon's SDK, or use the Tenon that it was built for";
  constexpr std::string_view kLibtorch = "rebuild the plugin against the libtorch that this Tenon uses";
  const std::string spaces = outer_namespaces(symbol) + "::";
  if (spaces.starts_with("tenon::nn::")) return {"libtenon_nn.so.1, of Tenon itself", kSdk};
  if (spaces.starts_with("tenon::")) return {"libtenon_api.so.1, of Tenon itself", kSdk};
  if (starts_with_any(spaces, {"at::", "c10::", "torch::", "caffe2::"})) {
    return {"libtorch", kLibtorch};
  }
  if (spaces.starts_with("cv::")) return {"OpenCV", "rebuild the plugin against the OpenCV that is installed"};
  if (spaces.starts_with("google::protobuf::")) {
    return {"protobuf", "rebuild the plugin against the protobuf that is installed"};
  }
  return {};
}

/// Judges one plugin.
class Examination {
 public:
  Examination(LibraryMap& libraries, const std::optional<Libtorch>& libtorch, const PluginInfo& plugin)
      : libraries_(libraries),
        libtorch_(libtorch),
        closure_(libraries.closure(plugin.path)),
        plugin_(*closure_.libraries.front()) {
    for (const DynamicImage* const each : closure_.libraries) {
      if (!libraries_.is_open(*each)) new_.push_back(each);
    }
    scope_ = libraries_.global();
    for (const DynamicImage* const each : closure_.libraries) {
      if (std::ranges::find(scope_, each) == scope_.end()) scope_.push_back(each);
    }
  }

  std::vector<PluginFinding> findings() && {
    judge_file();
    if (judge_libraries()) {
      for (const DynamicImage* const each : new_) {
        judge_versions(*each);
        judge_undefined(*each);
        judge_copies(*each);
      }
      tell_clashes();
    }
    return std::move(findings_);
  }

 private:
  struct Found {
    const DynamicImage* library = nullptr;
    Definition definition = Definition::kNone;
  };
  struct Clash {
    std::vector<std::string> bound, unbound;
  };

  static Found first_in(const Libraries& scope, const DynamicSymbol& symbol) {
    const SoughtSymbol sought(symbol.name, symbol.version);
    for (const DynamicImage* const each : scope) {
      if (const Definition found = each->find(sought); found != Definition::kNone) {
        return {each, found};
      }
    }
    return {};
  }

  void judge_file() {
    if (plugin_.find(kEntrySymbol) == Definition::kNone) {
      findings_.push_back(
          error("no-entry", fmt::format("it does not export {}: build it with tenon_add_plugin", kEntrySymbol)));
    }
    if (plugin_.executable_stack()) {
      findings_.push_back(error("executable-stack",
                                "it asks for a stack whose content can be run, which would hold for the whole process: "
                                "link with -Wl,-z,noexecstack, and give assembler files a section .note.GNU-stack"));
    }
    if (plugin_.text_relocations()) {
      findings_.push_back(error(
          "text-relocations", "its code would have to be written to while it is opened: compile all of it with -fPIC"));
    }
    if (!plugin_.nodelete()) {
      findings_.push_back(error("no-nodelete",
                                "it could be unmapped while its code is still needed (autograd keeps functions): link "
                                "with -Wl,-z,nodelete, as tenon_add_plugin does"));
    }
    std::vector<std::string> extra;
    for (const DynamicSymbol& symbol : plugin_.defined()) {
      if (symbol.name != kEntrySymbol) extra.push_back(demangled(symbol.name));
    }
    if (!extra.empty()) {
      findings_.push_back(warning(
          "extra-exports",
          fmt::format("it exports more than {}: {}; another library's symbols of these names could take their place: "
                      "build it with tenon_add_plugin, or link with its version script and -Wl,--exclude-libs,ALL",
                      kEntrySymbol, shown(extra))));
    }
  }

  /// Whether all are there, so that symbols can be judged.
  bool judge_libraries() {
    bool complete = true;
    for (const MissingLibrary& missing : closure_.missing) {
      complete = false;
      const bool is_hosts = std::ranges::any_of(missing.chain, [&](const fs::path& file) {
        return std::ranges::any_of(closure_.libraries, [&](const DynamicImage* each) {
          return each->path() == file && libraries_.is_open(*each);
        });
      });
      if (is_hosts || (!libtorch_ && is_libtorch_name(missing.name))) continue;
      findings_.push_back(missing_library(missing));
    }
    for (const DynamicImage* const each : new_) {
      if (libtorch_ && is_second_libtorch(*each)) {
        findings_.push_back(
            error("second-libtorch",
                  fmt::format(
                      "it would bring a second libtorch into the process, {}, beside {} of this Tenon, and tensors of "
                      "one are no tensors of the other: build {} against the libtorch that TENON_LIBTORCH names, "
                      "without a copy of its own",
                      each->path().string(), libtorch_->libraries.string(), name_of(plugin_))));
      }
    }
    return complete;
  }

  [[nodiscard]] bool is_second_libtorch(const DynamicImage& library) const {
    std::error_code ignored;
    if (library.find(kDispatcher) != Definition::kNone) return true;
    return is_libtorch_name(name_of(library)) &&
           !fs::equivalent(library.path().parent_path(), libtorch_->libraries, ignored);
  }

  void judge_versions(const DynamicImage& library) {
    for (const DemandedVersion& demand : library.demanded_versions()) {
      const auto provider =
          std::ranges::find_if(scope_, [&](const DynamicImage* each) { return each->soname() == demand.library; });
      if (demand.weak || provider == scope_.end() || (*provider)->offered_versions().empty()) continue;
      const std::vector<std::string>& offered = (*provider)->offered_versions();
      if (std::ranges::find(offered, demand.version) != offered.end()) continue;
      findings_.push_back(error(
          "missing-version",
          fmt::format("{} was built with a newer {}: it needs {}, and {} has {} at most; rebuild it on this system, or "
                      "use a system at least as new as the one it was built on",
                      name_of(library), demand.library, demand.version, (*provider)->path().string(), offered.back())));
      lacking_versions_.push_back(demand.version);
    }
  }

  void judge_undefined(const DynamicImage& library) {
    const Libraries own = &library == &plugin_ ? closure_.libraries : libraries_.closure(library.path()).libraries;
    std::map<std::string_view, std::vector<std::string>> missing;
    std::map<std::string_view, std::string_view> cures;
    for (const DynamicSymbol& symbol : library.undefined()) {
      const Found found = first_in(scope_, symbol);
      if (found.library == nullptr) {
        if (symbol.weak || std::ranges::find(lacking_versions_, symbol.version) != lacking_versions_.end()) continue;
        const Owner owner = owner_of(symbol.name);
        missing[owner.name].push_back(demangled(symbol.name) +
                                      (symbol.version.empty() ? "" : " of version " + symbol.version));
        cures[owner.name] = owner.cure;
        continue;
      }
      if (found.definition != Definition::kStrong) continue;
      const Found expected = first_in(own, symbol);
      if (expected.library == nullptr || expected.library == found.library || libraries_.is_open(*expected.library) ||
          expected.definition != Definition::kStrong || is_system_runtime(*found.library)) {
        continue;
      }
      clashes_[{expected.library, found.library}].bound.push_back(symbol.name);
    }
    for (const auto& [owner, symbols] : missing) {
      findings_.push_back(error(
          "missing-symbol",
          fmt::format("no library that {} would be opened with has {}{}; {}", name_of(library), shown(symbols),
                      owner.empty() ? "" : fmt::format(", which should be in {}", owner),
                      owner.empty() ? "it was built against another version of one of them, or is not linked to all "
                                      "that it uses: rebuild it, linked with -Wl,-z,defs as tenon_add_plugin does"
                                    : cures[owner])));
    }
  }

  /// Symbols that a library defines and would nevertheless get from another.
  void judge_copies(const DynamicImage& library) {
    if (library.symbolic()) return;
    for (const DynamicSymbol& symbol : library.defined()) {
      if (symbol.weak || is_linker_mark(symbol.name)) continue;
      const Found found = first_in(scope_, symbol);
      if (found.library == &library || found.definition != Definition::kStrong || is_system_runtime(*found.library)) {
        continue;
      }
      Clash& clash = clashes_[{&library, found.library}];
      (symbol.bound ? clash.bound : clash.unbound).push_back(symbol.name);
    }
  }

  void tell_clashes() {
    for (auto& [pair, clash] : clashes_) {
      const auto& [own, other] = pair;
      std::vector<std::string> names;
      const auto blas = std::stable_partition(clash.bound.begin(), clash.bound.end(), std::not_fn(is_linear_algebra));
      clash.unbound.insert(clash.unbound.end(), blas, clash.bound.end());
      clash.bound.erase(blas, clash.bound.end());
      const bool is_taken = !clash.bound.empty();
      for (const std::string& symbol : is_taken ? clash.bound : clash.unbound) names.push_back(demangled(symbol));
      std::ranges::sort(names);
      names.erase(std::unique(names.begin(), names.end()), names.end());
      if (is_taken) {
        findings_.push_back(
            error("interposed-symbols",
                  fmt::format(
                      "{} and {} define the same symbols, and what {} calls would be taken from {}: {}; two versions "
                      "of one library do not fit together so: use the same library as the host, or link it statically "
                      "with -Wl,--exclude-libs,ALL",
                      own->path().string(), other->path().string(), name_of(plugin_), name_of(*other), shown(names))));
      } else if (!is_of_distribution(*own) || !is_of_distribution(*other)) {
        findings_.push_back(
            warning("second-copy", fmt::format("{} and {} define the same symbols: {}; none is known to be mixed up",
                                               own->path().string(), other->path().string(), shown(names))));
      }
    }
  }

  LibraryMap& libraries_;
  const std::optional<Libtorch>& libtorch_;
  LibraryMap::Closure closure_;
  const DynamicImage& plugin_;
  Libraries new_;    // what opening the plugin would add to the process
  Libraries scope_;  // the loader's order of symbol search
  std::vector<std::string> lacking_versions_;
  std::map<std::pair<const DynamicImage*, const DynamicImage*>, Clash> clashes_;
  std::vector<PluginFinding> findings_;
};

}  // namespace

Preflight::Preflight(std::optional<Libtorch> libtorch, bool cuda) : libtorch_(std::move(libtorch)) {
  std::vector<fs::path> files;
  if (libtorch_) {
    files = {libtorch_->libraries / "libc10.so", libtorch_->libraries / "libtorch_cpu.so"};
    if (cuda && libtorch_->cuda) files.push_back(libtorch_->libraries / "libtorch_cuda.so");
  }
  // What the engine links to is in the process whenever plugins are.
  for (const char* name : {"libtenon_api.so.1", "libtenon_nn.so.1"}) {
    std::error_code ignored;
    if (fs::path file = install_library_folder() / name; fs::exists(file, ignored)) files.push_back(std::move(file));
  }
  for (const fs::path& file : files) {
    try {
      for (const MissingLibrary& missing : libraries_.open(file)) {
        if (libtorch_ || !is_libtorch_name(missing.name)) host_.push_back(missing_library(missing));
      }
    } catch (const Refusal& refusal) {
      host_.push_back(error(refusal.reason(), fmt::format("{}: {}", file.string(), refusal.what())));
    }
  }
}

std::vector<PluginFinding> Preflight::examine(const PluginInfo& plugin) {
  if (plugin.built_in() || plugin.linked != nullptr) return {};
  try {
    return Examination(libraries_, libtorch_, plugin).findings();
  } catch (const Refusal& refusal) {
    return {error(refusal.reason(), refusal.what())};
  }
}

std::optional<Libtorch> usable_libtorch() noexcept {
  try {
    return find_libtorch();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace tenon::core
