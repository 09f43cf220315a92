// Paths in static memory: a handler cannot follow what another thread may be changing.
#include <core/process/crash_scene.hpp>

#include <array>
#include <atomic>
#include <climits>
#include <cstddef>
#include <string>

#include <core/process/crash_handlers.hpp>
#include <core/storage/atomic_file.hpp>

namespace tenon::core {
namespace {

/// Ends with NUL always: the last byte is never written.
class PathText {
 public:
  /// False, and empty, when the path is too long.
  bool set(const std::string& path) noexcept {
    const bool fits = path.size() < text_.size();
    text_[fits ? path.copy(text_.data(), path.size()) : 0] = '\0';
    return fits;
  }
  [[nodiscard]] const char* get() const noexcept { return text_.data(); }

 private:
  std::array<char, PATH_MAX> text_{};
};

struct Scene {
  PathText run;
  PathText file;
  PathText temporary;
  std::array<PathText, 2> checkpoints;  // the newest, and the one that is being written next
  std::atomic<int> newest{-1};
  std::atomic<int64_t> step{-1};
  std::atomic<bool> in_run{false};
  std::atomic<bool> trial{false};
  std::atomic<bool> running{false};
  std::atomic<bool> watched{false};

  void clear() noexcept {
    in_run = false;
    newest = -1;
    step = -1;
    trial = false;
    running = false;
    watched = false;
  }
};

Scene scene;

}  // namespace

CrashScene::CrashScene(bool trial) {
  scene.clear();
  scene.trial = trial;
  scene.running = true;
}

CrashScene::~CrashScene() { scene.clear(); }

void CrashScene::enter(const std::filesystem::path& run) {
  if (!scene.running || scene.trial) return;
  scene.in_run = false;
  const std::filesystem::path file = run / kCrashFile;
  const bool fits = scene.run.set(run.string()) && scene.file.set(file.string()) &&
                    scene.temporary.set(temporary_beside(file, 0).string());
  scene.in_run = fits;
}

void CrashScene::checkpoint(const std::filesystem::path& path) {
  if (!scene.running || scene.trial) return;
  const int next = scene.newest == 0 ? 1 : 0;
  if (scene.checkpoints[static_cast<std::size_t>(next)].set(path.string())) scene.newest = next;
}

void CrashScene::at(int64_t step) noexcept {
  scene.step.store(step, std::memory_order_relaxed);
  // By the first step, libtorch has made most of what it makes when it is needed.
  if (!scene.watched.exchange(true, std::memory_order_relaxed)) CrashHandlers::watch_exit();
}

CrashFacts crash_facts() noexcept {
  CrashFacts facts;
  facts.running = scene.running;
  facts.trial = scene.trial;
  facts.step = scene.step;
  if (scene.in_run) {
    facts.run = scene.run.get();
    facts.file = scene.file.get();
    facts.temporary = scene.temporary.get();
  }
  if (const int newest = scene.newest; newest >= 0) {
    facts.checkpoint = scene.checkpoints[static_cast<std::size_t>(newest)].get();
  }
  return facts;
}

}  // namespace tenon::core
