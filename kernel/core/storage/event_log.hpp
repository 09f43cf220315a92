// log.jsonl: the truth about a run, one JSON object a line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <core/json/json.hpp>
#include <core/storage/file.hpp>

namespace tenon::core {

/// Appends events. Each line is one write, so that a kill leaves at most one torn line, which the next opening removes.
/// One thread at a time.
class EventLog {
 public:
  /// Seconds since the epoch of Unix.
  using Clock = std::function<double()>;

  /// Opens or makes the file. \throws Error (kStorage).
  explicit EventLog(std::filesystem::path path, Clock clock = system_seconds);

  /// Appends {"event", "step", "time", …fields}. Non-finite numbers become "NaN", "Infinity", "-Infinity".
  /// `step` never falls: a smaller one is an error of the caller. \throws Error (kStorage), std::logic_error.
  void write(std::string_view event, int64_t step, const Json& fields = Json::object());

  /// Makes all lines durable. \throws Error (kStorage).
  void sync();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  [[nodiscard]] static double system_seconds();

 private:
  void truncate(uint64_t size);

  std::filesystem::path path_;
  Clock clock_;
  FileDescriptor file_;
  int64_t step_ = 0;
};

/// The last complete line of a log as an object, or nothing: no such file, no such line, or one that is no object.
/// \throws Error (kStorage) for a file that cannot be read.
[[nodiscard]] std::optional<Json> last_event(const std::filesystem::path& log);

/// One complete line of a log, without its line feed, and the bytes that it takes with it.
struct LogLine {
  std::string_view text;  ///< Valid until the next line.
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// Visits the complete lines of `file`, which has `size` bytes, in order and returns where they end: what is behind is
/// a torn line. One line is in memory at a time. \throws Error (kStorage).
uint64_t visit_lines(const FileDescriptor& file, uint64_t size, const std::filesystem::path& path,
                     const std::function<void(const LogLine&)>& visit);

}  // namespace tenon::core
