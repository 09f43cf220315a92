// log.jsonl: the truth about a run, one JSON object a line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
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

}  // namespace tenon::core
