// log.jsonl without what differs from run to run.
#include <host/run_log.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <core/json/json.hpp>
#include <core/storage/file.hpp>
#include <host/json_text.hpp>

namespace tenon::host {
namespace {

/// Shares of a time that was measured, and what came of it.
constexpr std::array<const char*, 5> kMeasured{"train.waiting", "train.copy", "train.compute", "train.loader.workers",
                                               "train.loader.samples_per_second"};

/// Events that a stop and a resumption add, or move to another step.
constexpr std::array<std::string_view, 3> kOfStops{"run_start", "run_end", "checkpoint"};

/// Messages at every step: those that tell of a time since the last one are cut in two by a stop.
bool tells_of_stop(const core::Json& line, std::optional<int64_t> stop) {
  if (!stop) return false;
  const std::string event = line.value("event", "");
  return event == "message" ||
         (line.value("step", int64_t{-1}) == *stop && std::ranges::find(kOfStops, event) != kOfStops.end());
}

std::string comparable(core::Json line, const std::string& directory) {
  line.erase("time");
  if (const auto values = line.find("values"); values != line.end() && values->is_object()) {
    for (const char* const key : kMeasured) values->erase(key);
  }
  if (const auto text = line.find("text"); text != line.end() && text->is_string()) {
    std::string written = text->get<std::string>();
    if (written.starts_with(directory)) *text = "RUN" + written.substr(directory.size());
  }
  return compact(line);
}

std::vector<std::string> comparable_lines(const std::filesystem::path& run, std::optional<int64_t> stop) {
  const std::string text = core::read_text(run / "log.jsonl", ErrorCode::kStorage);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    core::Json line = core::Json::parse(text.substr(begin, end - begin), nullptr, false);
    begin = end + 1;
    if (!line.is_object()) throw Error(ErrorCode::kStorage, fmt::format("{} holds a torn line", run.string()));
    if (line.value("event", "") == "timing") continue;
    if (!tells_of_stop(line, stop)) lines.push_back(comparable(std::move(line), run.string()));
  }
  return lines;
}

}  // namespace

std::optional<std::string> compare_logs(const std::filesystem::path& one, const std::filesystem::path& other,
                                        std::optional<int64_t> stop) {
  const std::vector<std::string> left = comparable_lines(one, stop);
  const std::vector<std::string> right = comparable_lines(other, stop);
  const auto [a, b] = std::ranges::mismatch(left, right);
  if (a == left.end() && b == right.end()) return std::nullopt;
  constexpr std::string_view kNothing = "the log's end";
  return fmt::format("{} where the other log has {}", a == left.end() ? kNothing : *a,
                     b == right.end() ? kNothing : *b);
}

}  // namespace tenon::host
