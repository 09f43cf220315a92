// What a crash report names beside the crash itself: the run and where it stood.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace tenon::core {

/// Name of the report in a run directory.
inline constexpr const char* kCrashFile = "crash.json";

/// While it lives, crashes belong to one run. One at a time in a process: the newest counts. [trainer]
class CrashScene {
 public:
  /// `trial`: nothing of it stays, so a crash leaves no file.
  explicit CrashScene(bool trial);
  CrashScene(const CrashScene&) = delete;
  CrashScene& operator=(const CrashScene&) = delete;
  ~CrashScene();

  /// The run directory; crash.json goes there. A path that is too long for a handler is not noted. This and the two
  /// below do nothing while there is no scene.
  static void enter(const std::filesystem::path& run);

  /// The newest checkpoint.
  static void checkpoint(const std::filesystem::path& path);

  /// Steps made so far.
  static void at(int64_t step) noexcept;
};

/// What is noted, for the handler: texts in static memory, empty where nothing is known.
struct CrashFacts {
  bool running = false;
  bool trial = false;
  std::string_view run;
  std::string_view checkpoint;
  const char* file = nullptr;       ///< RUN/crash.json
  const char* temporary = nullptr;  ///< Its name until it is whole.
  int64_t step = -1;
};

/// Safe in a signal handler.
[[nodiscard]] CrashFacts crash_facts() noexcept;

}  // namespace tenon::core
