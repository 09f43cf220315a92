// Sets what must be set before libtorch is loaded, then opens libtorch and the engine from this install.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tenon::core {

/// What a run asks of the process; taken from the pipeline's `run`.
struct RuntimeRequest {
  int64_t threads = 0;          ///< Intra-op threads; 0 leaves the choice to libtorch.
  bool strict = true;           ///< run.determinism is "strict".
  bool ieee = true;             ///< run.float32 is "ieee".
  bool cuda = false;            ///< Open libtorch's CUDA half: run.device is "cuda", or "auto" and has_nvidia_driver().
  bool set_environment = true;  ///< Variables of the environment may be set; not in somebody else's process.
};

/// A variable of the process's environment and why it has that value; an empty value takes the variable away.
struct EnvironmentSetting {
  std::string name;
  std::optional<std::string> value;
  std::string reason;
};

/// Answers what a variable is set to now.
using EnvironmentLookup = std::function<std::optional<std::string>(const char* name)>;

/// What must change in the environment for this request: OMP_NUM_THREADS and MKL_NUM_THREADS, CUBLAS_WORKSPACE_CONFIG,
/// and the variables that would overrule run.float32. Pure.
[[nodiscard]] std::vector<EnvironmentSetting> environment_for(const RuntimeRequest& request,
                                                              const EnvironmentLookup& now);

/// A libtorch on disk.
struct Libtorch {
  std::filesystem::path libraries;  ///< The folder of libtorch_cpu.so.
  std::string version;              ///< "2.11.0", without a local suffix.
  bool cuda = false;                ///< libtorch_cuda.so is there.
};

/// Finds libtorch: the one that the process has opened already, such as one that the program is linked to, else
/// TENON_LIBTORCH (its root or its lib folder), else the path in lib/tenon/libtorch.path of the install. \throws
/// Refusal ("no-libtorch", "libtorch-version") that says where it looked and what to do; a version other than the one
/// this build was made for is refused by name.
[[nodiscard]] Libtorch find_libtorch();

/// Checks a folder as find_libtorch does; `named_by` says in messages who named it.
[[nodiscard]] Libtorch inspect_libtorch(const std::filesystem::path& folder, const std::string& named_by);

/// The kernel driver of NVIDIA's GPUs is loaded on this machine. Opens no library.
[[nodiscard]] bool has_nvidia_driver();

/// libtorch and the engine, opened. Libraries stay mapped for the life of the process.
class Runtime {
 public:
  /// Sets the environment where it may, opens libc10, libtorch_cpu, with `request.cuda` libtorch_cuda, then the engine
  /// beside libtenon_core. Who lets it set the environment calls it before the first thread; what is set once libtorch is
  /// open, or libtorch_cuda opened once libtorch was asked for a GPU, comes too late.
  /// \throws Refusal ("no-libtorch", "libtorch-version", "no-cuda", "no-engine", "missing-library", "missing-symbol",
  /// "open") naming the library, who needs it, where it was looked for and the fix.
  explicit Runtime(const RuntimeRequest& request);

  [[nodiscard]] const Libtorch& libtorch() const noexcept { return libtorch_; }
  [[nodiscard]] const std::filesystem::path& engine_path() const noexcept { return engine_path_; }

  /// What was set or taken away, for environment.json.
  [[nodiscard]] const std::vector<EnvironmentSetting>& environment() const noexcept { return environment_; }

  /// A function that the engine exports under a C name. \throws Refusal ("engine") for an engine without it.
  template <class Function>
  [[nodiscard]] Function* engine_function(const char* name) const {
    return reinterpret_cast<Function*>(engine_symbol(name));
  }

 private:
  [[nodiscard]] void* engine_symbol(const char* name) const;

  Libtorch libtorch_;
  std::filesystem::path engine_path_;
  std::vector<EnvironmentSetting> environment_;
  void* engine_ = nullptr;
};

}  // namespace tenon::core
