// Reading and renaming.
#include <core/process/crash_file.hpp>

#include <system_error>

#include <fmt/format.h>

#include <core/json/pointer.hpp>
#include <core/process/crash_scene.hpp>
#include <core/storage/canonical_json.hpp>
#include <core/storage/file.hpp>
#include <tenon/error.hpp>

namespace tenon::core {

namespace fs = std::filesystem;

std::optional<std::string> read_crash(const fs::path& run) {
  const fs::path file = run / kCrashFile;
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;
  try {
    const Json report = read_json(file);
    const Json* const message = find_member(report, "message");
    if (message != nullptr && message->is_string()) return message->get<std::string>();
  } catch (const Error&) {
    return std::nullopt;  // not worth a failure: it only explains
  }
  return std::nullopt;
}

void set_crash_aside(const fs::path& run) {
  const fs::path file = run / kCrashFile;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(file, error))) return;
  int number = 1;
  fs::path aside = run / "crash-1.json";
  while (fs::exists(fs::symlink_status(aside, error))) aside = run / fmt::format("crash-{}.json", ++number);
  fs::rename(file, aside, error);
  if (error) throw storage_error("rename the report of the last crash", file, error.value());
}

}  // namespace tenon::core
