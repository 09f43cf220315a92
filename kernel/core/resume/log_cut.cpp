// Finds the place in one pass, then copies both halves.
#include <core/resume/log_cut.hpp>

#include <optional>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include <core/resume/copy.hpp>
#include <core/storage/event_log.hpp>

namespace tenon::core {
namespace {

struct Cut {
  uint64_t keep = 0;  // bytes that stay
  uint64_t end = 0;   // where the last complete line ends
  bool written = false;
};

Cut find_cut(const OpenedFile& log, const std::filesystem::path& path, int64_t step) {
  Cut cut;
  std::optional<uint64_t> behind_checkpoint;
  std::optional<uint64_t> later;  // where the first line of a later step begins
  cut.end = visit_lines(log.file, log.size, path, [&](const LogLine& line) {
    const Json event = Json::parse(line.text, nullptr, false);
    const auto number = event.is_object() ? event.find("step") : event.end();
    if (!event.is_object() || number == event.end() || !number->is_number_integer()) return;
    const auto at = number->get<int64_t>();
    if (at > step && !later) later = line.begin;
    if (at == step && event.value("event", Json()) == "checkpoint") behind_checkpoint = line.end;
  });
  cut.written = behind_checkpoint.has_value();
  cut.keep = behind_checkpoint.value_or(later.value_or(cut.end));
  return cut;
}

std::filesystem::path free_name(const std::filesystem::path& log) {
  std::filesystem::path free = log;
  for (int number = 1;; ++number) {
    free.replace_filename(fmt::format("{}.cut-{:04}{}", log.stem().string(), number, log.extension().string()));
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::symlink_status(free, error))) return free;
  }
}

bool is_there(const std::filesystem::path& log) {
  std::error_code error;
  return std::filesystem::exists(log, error) || error;
}

}  // namespace

bool cut_log(const std::filesystem::path& log, int64_t step) {
  if (!is_there(log)) return false;
  const OpenedFile opened = open_for_reading(log, ErrorCode::kStorage);
  const Cut cut = find_cut(opened, log, step);
  if (cut.keep < cut.end) copy_range(opened, log, cut.keep, cut.end, free_name(log));
  if (cut.keep < opened.size) copy_range(opened, log, 0, cut.keep, log);
  return cut.written;
}

bool copy_log(const std::filesystem::path& log, const std::filesystem::path& copy, int64_t step) {
  if (!is_there(log)) return false;
  const OpenedFile opened = open_for_reading(log, ErrorCode::kStorage);
  const Cut cut = find_cut(opened, log, step);
  copy_range(opened, log, 0, cut.keep, copy);
  return cut.written;
}

}  // namespace tenon::core
