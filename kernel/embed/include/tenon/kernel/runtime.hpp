// The entrance: plugins that were found, and what can be done with them.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include <tenon/kernel/components.hpp>
#include <tenon/kernel/error.hpp>
#include <tenon/kernel/export.hpp>
#include <tenon/kernel/pipeline.hpp>
#include <tenon/kernel/predictor.hpp>
#include <tenon/kernel/training.hpp>

namespace tenon::kernel {

/// What a Runtime may do to the process. By default nothing of it is touched: no signal handler, no variable of the
/// environment, no locale, no current directory, no std::terminate handler; nothing is written to standard output or
/// error, unless the pipeline itself names observer:console; no function ends the process.
struct RuntimeOptions {
  std::vector<std::filesystem::path> plugin_paths = {};  ///< As --plugin-path: looked at first.
  std::vector<std::filesystem::path> trusted = {};       ///< As --trust-dir.

  /// While the Runtime lives, a crash (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, std::terminate) is explained: plugin,
  /// node, method, sample, in crash.json of the run and on standard error; the process then ends with exit code 3, and so
  /// it does where a component calls exit(). The former handlers come back with the end of the Runtime and of all its
  /// Predictors. Of several Runtimes that ask for it, the first one has them.
  bool handle_crashes = false;

  /// Variables that libtorch reads may be set, as `tenon run` does, when libtorch is opened: CUBLAS_WORKSPACE_CONFIG
  /// and others, which matter on a GPU. To be asked for only where no other thread reads the environment meanwhile.
  /// Without it, train() and predictor() on a GPU refuse to start while a variable is not as they need it, and name it.
  bool set_environment = false;

  /// A build of a plugin that was never opened on this machine is first opened in a child process, as `tenon run` does,
  /// so that one which ends its process does not end this one. The child is waited for by its id; SIGCHLD comes.
  bool try_plugins_in_child = false;
};

/// Plugins and components, known but not opened. Several may live in one process, one after the other or side by side.
/// It owns no thread: those of a training end with train(), that of a Predictor with the Predictor.
///
/// libtorch is opened by the first train() or predictor() of the process and stays mapped: the one that the program is
/// linked to (it must be of the version that Tenon was built for), else the one that TENON_LIBTORCH or the installation
/// names. Its half for GPUs is opened along with it, if that first pipeline may use one; a later one cannot. Its
/// settings for the whole process (deterministic algorithms, float32 precision, number of threads) are the pipeline's
/// while train() or predict() is at work, and as they were before afterwards; work that wants other settings waits.
///
/// Functions may be called from any thread, also at once. Trainings of one process take turns. A moved-from Runtime may
/// only be destroyed or assigned to.
class TENON_KERNEL_API Runtime {
 public:
  /// Finds the plugins: plugin_paths, TENON_PLUGIN_PATH, ~/.local/share/tenon/plugins, the installation's own. Reads
  /// their manifests, opens none. `own` are the components of the program, which are known beside them.
  /// \throws kernel::Error: kConfig for a path that is not there, kPlugin for a component or an id that is there twice.
  explicit Runtime(const RuntimeOptions& options = {}, const std::vector<Components>& own = {});
  Runtime(Runtime&&) noexcept;
  Runtime& operator=(Runtime&&) noexcept;
  ~Runtime();

  /// Reads and checks a pipeline as `tenon check` does; opens nothing. Relative paths count from the current directory,
  /// or as pipelines count them. \throws kernel::Error with every finding, of which at least one is an error.
  [[nodiscard]] Pipeline load(const std::filesystem::path& file, const PipelineOptions& options = {}) const;

  /// Trains, validates, tests and exports as the pipeline says, on threads of its own, and returns when all is done and
  /// they have ended. An export is verified by `tenon artefact-run` in a second process, for which the installation's
  /// program has to be there. \throws kernel::Error with its place in the pipeline where there is one.
  [[nodiscard]] Result train(const Pipeline& pipeline, const TrainOptions& options = {}) const;

  /// Opens a checkpoint, or the best (else newest) one of a run directory, such as Result::checkpoint.
  /// \throws kernel::Error: kCheckpoint where there is none, kConfig when its pipeline has no "predict" or does not go
  /// with the fields, and as train() does.
  [[nodiscard]] Predictor predictor(const std::filesystem::path& place, const PredictorOptions& options) const;

  /// What was left out while looking for plugins.
  [[nodiscard]] std::vector<Diagnostic> warnings() const;

  class Content;

 private:
  std::shared_ptr<Content> content_;
};

}  // namespace tenon::kernel
