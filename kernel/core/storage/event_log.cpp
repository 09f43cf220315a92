// Appends events as lines of JSON.
#include <core/storage/event_log.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include <core/storage/canonical_json.hpp>

namespace tenon::core {
namespace {

constexpr uint64_t kPiece = uint64_t{64} * 1024;

uint64_t size_of_file(const FileDescriptor& file, const std::filesystem::path& path) {
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) throw storage_error("write", path, errno);
  return static_cast<uint64_t>(status.st_size);
}

/// The last complete line of a file and where it ends.
struct LastLine {
  std::string text;
  uint64_t end = 0;
};

LastLine last_line(const FileDescriptor& file, uint64_t size, const std::filesystem::path& path) {
  std::string tail;
  for (uint64_t begin = size; begin > 0;) {
    const uint64_t length = std::min(kPiece, begin);
    begin -= length;
    std::string piece(static_cast<std::size_t>(length), '\0');
    read_at(file, begin, std::as_writable_bytes(std::span(piece)), path, ErrorCode::kStorage);
    tail.insert(0, piece);
    const std::size_t end = tail.rfind('\n');
    if (end == std::string::npos) continue;
    const std::size_t before = end == 0 ? std::string::npos : tail.rfind('\n', end - 1);
    if (before == std::string::npos && begin > 0) continue;
    const std::size_t start = before == std::string::npos ? 0 : before + 1;
    return {tail.substr(start, end - start), begin + end + 1};
  }
  return {};
}

}  // namespace

EventLog::EventLog(std::filesystem::path path, Clock clock)
    : path_(std::move(path)),
      clock_(std::move(clock)),
      file_(::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666)) {
  if (!file_) throw storage_error("write", path_, errno);
  const LastLine last = last_line(file_, size_of_file(file_, path_), path_);
  truncate(last.end);
  const Json json = Json::parse(last.text, nullptr, false);
  if (json.is_object() && json.contains("step") && json["step"].is_number_integer())
    step_ = json["step"].get<int64_t>();
}

void EventLog::truncate(uint64_t size) {
  if (::ftruncate(file_.get(), static_cast<off_t>(size)) != 0) throw storage_error("write", path_, errno);
}

void EventLog::write(std::string_view event, int64_t step, const Json& fields) {
  if (step < step_)
    throw std::logic_error(fmt::format("event \"{}\" of step {} after one of step {}", event, step, step_));
  Json line = {{"event", event}, {"step", step}, {"time", clock_()}};
  line.update(fields);
  const std::string text = line_text(line) + "\n";
  const uint64_t before = size_of_file(file_, path_);
  try {
    write_all(file_, bytes_of(text), path_);
  } catch (const Error&) {
    (void)::ftruncate(file_.get(), static_cast<off_t>(before));  // no half line before what follows once there is room
    throw;
  }
  step_ = step;
}

void EventLog::sync() {
  if (::fsync(file_.get()) != 0) throw storage_error("write", path_, errno);
}

std::optional<Json> last_event(const std::filesystem::path& log) {
  std::error_code error;
  if (!std::filesystem::exists(log, error) && !error) return std::nullopt;
  const OpenedFile opened = open_for_reading(log, ErrorCode::kStorage);
  Json json = Json::parse(last_line(opened.file, opened.size, log).text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  return json;
}

uint64_t visit_lines(const FileDescriptor& file, uint64_t size, const std::filesystem::path& path,
                     const std::function<void(const LogLine&)>& visit) {
  std::string buffer;  // bytes from `start` on
  uint64_t start = 0;
  std::size_t searched = 0;
  for (uint64_t offset = 0; offset < size;) {
    const auto length = static_cast<std::size_t>(std::min(kPiece, size - offset));
    const std::size_t held = buffer.size();
    buffer.resize(held + length);
    read_at(file, offset, std::as_writable_bytes(std::span(buffer).subspan(held)), path, ErrorCode::kStorage);
    offset += length;
    const std::string_view held_text = buffer;
    std::size_t begin = 0;
    for (std::size_t end = buffer.find('\n', searched); end != std::string::npos; end = buffer.find('\n', begin)) {
      visit({held_text.substr(begin, end - begin), start + begin, start + end + 1});
      begin = end + 1;
    }
    buffer.erase(0, begin);
    start += begin;
    searched = buffer.size();
  }
  return start;
}

double EventLog::system_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace tenon::core
