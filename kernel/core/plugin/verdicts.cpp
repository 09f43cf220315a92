// Verdicts as files of the user's cache.
#include <core/plugin/verdicts.hpp>

#include <cstdlib>
#include <exception>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <core/json/json.hpp>
#include <core/plugin/elf.hpp>
#include <core/plugin/fingerprint.hpp>
#include <core/plugin/search_path.hpp>
#include <core/storage/atomic_file.hpp>
#include <core/storage/canonical_json.hpp>
#include <core/storage/sha256.hpp>

namespace tenon::core {
namespace {

namespace fs = std::filesystem;

constexpr int kFormat = 1;
constexpr std::size_t kDigest = 16;  // hex digits that tell hosts apart

std::string build_of(const fs::path& library) {
  try {
    return ElfFile(library).build_id();
  } catch (const Error&) {
    return {};
  }
}

/// Names of files need not be UTF-8, and nobody reads this one back.
std::string shown(const fs::path& path) {
  const std::string text = Json(path.string()).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(text).get<std::string>();
}

fs::path named_folder(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? fs::path() : fs::path(value);
}

}  // namespace

Verdicts::Verdicts(std::filesystem::path folder, const std::optional<Libtorch>& libtorch)
    : folder_(std::move(folder)),
      tenon_(fmt::format("{} tenon={} api={}", host_fingerprint(), TENON_VERSION,
                         build_of(install_library_folder() / "libtenon_api.so.1"))) {
  if (libtorch) {
    libtorch_ = fmt::format(" libtorch-build={} nn={}", build_of(libtorch->libraries / "libtorch_cpu.so"),
                            build_of(install_library_folder() / "libtenon_nn.so.1"));
  }
}

std::string Verdicts::host_of(const PluginInfo& plugin) const {
  return plugin.over_libtorch() ? tenon_ + libtorch_ : tenon_;
}

std::filesystem::path Verdicts::file_of(const PluginInfo& plugin) const {
  return folder_ / fmt::format("{}-{}.json", plugin.build_id, sha256(host_of(plugin)).substr(0, kDigest));
}

std::optional<Verdict> Verdicts::of(const PluginInfo& plugin) const {
  if (plugin.build_id.empty()) return std::nullopt;
  try {
    const fs::path file = file_of(plugin);
    if (std::error_code error; !fs::exists(file, error)) return std::nullopt;
    const Json json = read_json(file);
    if (json.at("format") != kFormat || json.at("host") != host_of(plugin)) return std::nullopt;
    return Verdict{json.at("good").get<bool>(), json.at("code").get<std::string>(),
                   json.at("message").get<std::string>(), json.at("found").get<std::string>()};
  } catch (const std::exception&) {
    return std::nullopt;  // damaged: found anew
  }
}

void Verdicts::keep(const PluginInfo& plugin, const Verdict& verdict) const noexcept {
  if (plugin.build_id.empty()) return;
  try {
    fs::create_directories(folder_);
    write_atomically(file_of(plugin), canonical_text({{"format", kFormat},
                                                      {"plugin", plugin.id},
                                                      {"version", plugin.version},
                                                      {"path", shown(plugin.path)},
                                                      {"build_id", plugin.build_id},
                                                      {"host", host_of(plugin)},
                                                      {"good", verdict.good},
                                                      {"code", verdict.code},
                                                      {"message", verdict.message},
                                                      {"found", verdict.found}}));
  } catch (const std::exception&) {
    return;  // a cache that cannot be written costs time alone
  }
}

void Verdicts::forget(const PluginInfo& plugin) const noexcept {
  if (plugin.build_id.empty()) return;
  std::error_code ignored;
  fs::remove(file_of(plugin), ignored);
}

std::filesystem::path cache_folder() {
  if (fs::path named = named_folder("TENON_CACHE"); !named.empty()) return named;
  if (const fs::path user = named_folder("XDG_CACHE_HOME"); user.is_absolute()) return user / "tenon";
  const fs::path home = named_folder("HOME");
  return (home.empty() ? fs::path("/") : home) / ".cache" / "tenon";
}

}  // namespace tenon::core
