// The process's environment, libtorch and the engine.
#include <core/plugin/runtime.hpp>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <regex>
#include <system_error>

#include <fmt/format.h>

#include <core/plugin/fingerprint.hpp>
#include <core/plugin/open_library.hpp>
#include <core/plugin/refusal.hpp>
#include <core/plugin/search_path.hpp>
#include <core/storage/file.hpp>

namespace tenon::core {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEngine = "libtenon_engine.so.1";
constexpr const char* kFix =
    "set TENON_LIBTORCH to the folder of a libtorch 2.11 that has lib/libtorch_cpu.so (PyPI: torch==2.11.0; ./dev "
    "installs it)";

std::string text_of(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) ? read_text(path, ErrorCode::kPlugin, uint64_t{1} << 20) : std::string();
}

/// From the files that the distributions of libtorch carry: PyPI's version.py, the archive's build-version, the
/// headers.
std::string version_of(const fs::path& root) {
  static const std::regex python(R"(__version__\s*=\s*'(\d+\.\d+\.\d+))");
  static const std::regex plain(R"(^\s*(\d+\.\d+\.\d+))");
  static const std::regex header(R"(TORCH_VERSION\s+"?(\d+\.\d+\.\d+))");
  const std::array<std::pair<fs::path, const std::regex*>, 4> places{
      {{"version.py", &python},
       {"build-version", &plain},
       {"include/torch/headeronly/version.h", &header},
       {"include/torch/csrc/api/include/torch/version.h", &header}}};
  for (const auto& [file, pattern] : places) {
    const std::string text = text_of(root / file);
    if (std::smatch match; std::regex_search(text, match, *pattern)) return match[1];
  }
  return {};
}

std::string_view major_and_minor(std::string_view version) {
  const std::size_t first = version.find('.');
  return first == std::string_view::npos ? version : version.substr(0, version.find('.', first + 1));
}

void apply(const EnvironmentSetting& setting) {
  if (setting.value) {
    ::setenv(setting.name.c_str(), setting.value->c_str(), 1);
  } else {
    ::unsetenv(setting.name.c_str());
  }
}

/// The file libtorch_cpu.so that is mapped, or empty.
fs::path opened_libtorch() {
  fs::path found;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t /*size*/, void* data) {
        const fs::path file(object->dlpi_name == nullptr ? "" : object->dlpi_name);
        if (file.filename() != "libtorch_cpu.so") return 0;
        *static_cast<fs::path*>(data) = file;
        return 1;
      },
      &found);
  return found;
}

std::optional<std::string> value_now(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace

std::vector<EnvironmentSetting> environment_for(const RuntimeRequest& request, const EnvironmentLookup& now) {
  std::vector<EnvironmentSetting> settings;
  const auto want = [&](const char* name, std::optional<std::string> value, const char* reason) {
    if (now(name) != value) settings.push_back({name, std::move(value), reason});
  };
  if (request.threads > 0) {
    want("OMP_NUM_THREADS", std::to_string(request.threads), "run.threads");
    want("MKL_NUM_THREADS", std::to_string(request.threads), "run.threads");
  }
  if (request.strict) {
    const std::optional<std::string> workspace = now("CUBLAS_WORKSPACE_CONFIG");
    if (workspace != ":16:8") want("CUBLAS_WORKSPACE_CONFIG", ":4096:8", "run.determinism is strict");
  }
  want("TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", std::nullopt, "run.float32 alone decides");
  want("NVIDIA_TF32_OVERRIDE", request.ieee ? std::optional<std::string>("0") : std::nullopt,
       "run.float32 alone decides");
  return settings;
}

Libtorch inspect_libtorch(const std::filesystem::path& folder, const std::string& named_by) {
  std::error_code error;
  fs::path libraries = folder / "lib";
  if (!fs::exists(libraries / "libtorch_cpu.so", error)) libraries = folder;
  if (!fs::exists(libraries / "libtorch_cpu.so", error)) {
    throw Refusal("no-libtorch",
                  fmt::format("there is no libtorch in {}, which {} names: neither lib/libtorch_cpu.so nor "
                              "libtorch_cpu.so; {}",
                              folder.string(), named_by, kFix));
  }
  if (!fs::exists(libraries / "libc10.so", error)) {
    throw Refusal("no-libtorch",
                  fmt::format("{} names {}, where libtorch is not complete: libtorch_cpu.so is there, libc10.so "
                              "is not; {}",
                              named_by, folder.string(), kFix));
  }
  Libtorch libtorch;
  libtorch.libraries = fs::canonical(libraries);
  libtorch.version = version_of(libtorch.libraries.parent_path());
  libtorch.cuda = fs::exists(libtorch.libraries / "libtorch_cuda.so", error);
  const std::string wanted = parse_fingerprint(host_fingerprint()).at("libtorch");
  if (libtorch.version.empty()) {
    throw Refusal("libtorch-version",
                  fmt::format("{} names {}, which does not say which version of libtorch it is (version.py, "
                              "build-version, include); this Tenon needs {}; {}",
                              named_by, folder.string(), wanted, kFix));
  }
  if (major_and_minor(libtorch.version) != major_and_minor(wanted)) {
    throw Refusal("libtorch-version",
                  fmt::format("{} names {}, which is libtorch {}; this Tenon was built for libtorch {}; {}", named_by,
                              folder.string(), libtorch.version, wanted, kFix));
  }
  return libtorch;
}

Libtorch find_libtorch() {
  if (const fs::path opened = opened_libtorch(); !opened.empty()) {
    return inspect_libtorch(fs::canonical(opened).parent_path(), "this process, which has it open,");
  }
  if (const std::optional<std::string> named = value_now("TENON_LIBTORCH"); named && !named->empty()) {
    return inspect_libtorch(*named, "TENON_LIBTORCH");
  }
  const fs::path note = install_library_folder() / "tenon/libtorch.path";
  std::string text = text_of(note);
  text.erase(std::min(text.find('\n'), text.size()));
  if (text.empty()) {
    throw Refusal("no-libtorch", fmt::format("no libtorch is known: TENON_LIBTORCH is not set, and {} names none; {}",
                                             note.string(), kFix));
  }
  return inspect_libtorch(text, note.string());
}

bool has_nvidia_driver() {
  std::error_code error;
  return std::ranges::any_of(std::array{"/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg"},
                             [&](const char* path) { return fs::exists(path, error); });
}

Runtime::Runtime(const RuntimeRequest& request)
    : libtorch_(find_libtorch()), engine_path_(install_library_folder() / kEngine) {
  if (request.cuda && !libtorch_.cuda) {
    throw Refusal("no-cuda",
                  fmt::format("run.device asks for CUDA, but the libtorch in {} has no libtorch_cuda.so: use one with "
                              "CUDA, or set run.device to \"cpu\"",
                              libtorch_.libraries.string()));
  }
  std::error_code error;
  if (!fs::exists(engine_path_, error)) {
    throw Refusal("no-engine",
                  fmt::format("{} is not there: this Tenon is not completely installed", engine_path_.string()));
  }
  if (request.set_environment) environment_ = environment_for(request, value_now);
  std::ranges::for_each(environment_, apply);
  // By full path, so that whatever asks for their names later gets these and no other copy. The CUDA half comes before
  // the engine: once libtorch was asked whether there is CUDA, its answer stays.
  for (const char* name : {"libc10.so", "libtorch_cpu.so"}) {
    (void)open_library(libtorch_.libraries / name);
  }
  if (request.cuda) (void)open_library(libtorch_.libraries / "libtorch_cuda.so");
  engine_ = open_library(engine_path_);
}

void* Runtime::engine_symbol(const char* name) const {
  void* symbol = ::dlsym(engine_, name);
  if (symbol == nullptr) {
    throw Refusal("engine",
                  fmt::format("{} has no {}: it is of another version than this program", engine_path_.string(), name));
  }
  return symbol;
}

}  // namespace tenon::core
