// The parent's side: starts children, watches how far they come, and turns ends into verdicts.
#include <core/plugin/probe.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <core/plugin/refusal.hpp>
#include <core/process/child.hpp>
#include <core/storage/scratch_folder.hpp>

namespace tenon::core {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kCure = "mend or remove it; to try it again: tenon plugins doctor --retry";

/// What depends on more than the two builds, such as a manifest that was put into the file later, is found anew.
bool belongs_to_build(std::string_view code) {
  constexpr std::array kCodes{"crashed", "hung", "ended", "entry", "no-entry", "changes-process"};
  return std::ranges::find(kCodes, code) != kCodes.end();
}

std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, sizeof "2026-03-01T12:00:00Z"> text{};
  (void)std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string signal_name(int number) {
  const char* const name = ::sigabbrev_np(number);
  return name == nullptr ? fmt::format("signal {}", number) : fmt::format("SIG{}", name);
}

/// The last line with anything in it.
std::string last_line(std::string_view text) {
  const std::size_t end = text.find_last_not_of("\r\n ");
  if (end == std::string_view::npos) return {};
  text = text.substr(0, end + 1);
  const std::size_t start = text.rfind('\n');
  return std::string(start == std::string_view::npos ? text : text.substr(start + 1));
}

/// How far a child has come: lines "WORD", "WORD NUMBER" or "bad NUMBER CODE MESSAGE", in the order of events.
struct Progress {
  std::string stage;       ///< "", "libtorch", "open", "describe", "done"
  std::size_t plugin = 0;  ///< Which one, of "open" and "describe".
  std::map<std::size_t, Verdict> verdicts;
  std::optional<Verdict> libtorch_failed;

  explicit Progress(const fs::path& file) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line) && !stream.eof();) take(line);
  }

 private:
  void take(std::string_view line) {
    const auto word = [&line] {
      const std::size_t blank = line.find(' ');
      std::string text(line.substr(0, blank));
      line.remove_prefix(blank == std::string_view::npos ? line.size() : blank + 1);
      return text;
    };
    const std::string what = word();
    if (what == "no-libtorch") {
      std::string code = word();
      libtorch_failed = Verdict{false, std::move(code), std::string(line), {}};
      return;
    }
    const std::string number = word();
    const std::size_t index = number.empty() ? 0 : std::stoul(number);
    if (what == "good") {
      verdicts[index] = {};
    } else if (what == "bad") {
      std::string code = word();
      verdicts[index] = Verdict{false, std::move(code), std::string(line), {}};
    } else {
      stage = what;
      plugin = index;
    }
  }
};

/// One child for some plugins.
class Round {
 public:
  Round(std::span<const PluginInfo* const> plugins, const std::optional<Libtorch>& libtorch,
        const ProbeOptions& options)
      : plugins_(plugins), options_(options), scratch_(fs::temp_directory_path(), "tenon-probe-") {
    const fs::path report = scratch_.path() / "progress";
    std::vector<std::string> arguments{report.string()};
    const bool over = std::ranges::any_of(plugins, [](const PluginInfo* each) { return each->over_libtorch(); });
    arguments.push_back(over && libtorch ? libtorch->libraries.string() : "");
    for (const PluginInfo* const each : plugins) arguments.push_back(each->path.string());
    Clock::time_point since = Clock::now();
    uintmax_t seen = 0;
    bool at_libtorch = true;
    child_ = run_child(options.program, arguments, scratch_.path() / "messages", kNoLimit, [&] {
      if (options_.cancelled && options_.cancelled()) return cancelled_ = true;
      std::error_code error;
      if (const uintmax_t size = fs::file_size(report, error); !error && size != seen) {
        seen = size;
        since = Clock::now();
        at_libtorch = Progress(report).stage == "libtorch";
      }
      return hung_ = Clock::now() - since > (at_libtorch ? options_.libtorch_limit : options_.limit);
    });
    progress_ = Progress(report);
    if (progress_->libtorch_failed) {
      throw Refusal(progress_->libtorch_failed->code, progress_->libtorch_failed->message);
    }
  }

  [[nodiscard]] bool cancelled() const noexcept { return cancelled_; }
  [[nodiscard]] const std::map<std::size_t, Verdict>& verdicts() const noexcept { return progress_->verdicts; }
  [[nodiscard]] bool hung() const noexcept {
    return hung_ && !progress_->stage.empty() && progress_->stage != "libtorch";
  }
  [[nodiscard]] std::size_t last() const noexcept { return progress_->plugin; }
  [[nodiscard]] bool whole() const noexcept { return progress_->verdicts.size() == plugins_.size(); }

  /// Ended by a signal that people and systems send, not by the plugin.
  [[nodiscard]] bool ended_from_outside() const noexcept {
    constexpr std::array kOutside{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    return !hung_ && std::ranges::find(kOutside, child_.exit_code - kSignal) != kOutside.end();
  }

  /// What befell the plugin at which the child ended.
  [[nodiscard]] Verdict end() const {
    if (progress_->stage != "open" && progress_->stage != "describe") {
      throw Refusal("libtorch", fmt::format("a child process that opens libtorch before a plugin is first opened ended "
                                            "by itself ({}){}",
                                            how(), said()));
    }
    const std::string when = progress_->stage == "open"
                                 ? "while it was being opened, by code that runs then (objects at "
                                   "namespace scope, constructor functions)"
                                 : "while it was asked what it holds";
    Verdict verdict{false, {}, {}, {}};
    if (hung_) {
      verdict.code = "hung";
      verdict.message =
          fmt::format("it had not come to an end after {} s {}; {}",
                      std::chrono::duration_cast<std::chrono::seconds>(options_.limit).count(), when, kCure);
    } else {
      verdict.code = child_.exit_code > kSignal ? "crashed" : "ended";
      verdict.message = fmt::format("it ends the process ({}) {}{}; {}", how(), when, said(), kCure);
    }
    return verdict;
  }

 private:
  static constexpr int kSignal = 128;

  [[nodiscard]] std::string how() const {
    if (hung_) return "it did not answer";
    return child_.exit_code > kSignal ? signal_name(child_.exit_code - kSignal)
                                      : fmt::format("exit code {}", child_.exit_code);
  }

  [[nodiscard]] std::string said() const {
    const std::string line = last_line(child_.messages);
    return line.empty() ? "" : fmt::format("; its last words: {}", line);
  }

  std::span<const PluginInfo* const> plugins_;
  const ProbeOptions& options_;
  ScratchFolder scratch_;
  ChildResult child_;
  bool cancelled_ = false;
  bool hung_ = false;
  std::optional<Progress> progress_;
};

/// Verdicts of plugins that none is kept of; those that a cancelled child left without one are missing.
std::map<const PluginInfo*, Verdict> probe_now(const std::vector<const PluginInfo*>& plugins,
                                               const std::optional<Libtorch>& libtorch, const ProbeOptions& options) {
  std::map<const PluginInfo*, Verdict> found;
  const auto take = [&](const Round& round, std::span<const PluginInfo* const> of) {
    for (const auto& [index, verdict] : round.verdicts()) {
      if (index < of.size()) found[of[index]] = verdict;
    }
  };
  if (plugins.size() > 1) {
    const Round all(plugins, libtorch, options);
    take(all, plugins);
    if (all.whole() || all.cancelled()) return found;
    if (all.hung()) found[plugins[all.last()]] = all.end();  // it had its whole time
  }
  for (const PluginInfo* const each : plugins) {
    if (found.contains(each)) continue;
    constexpr int kTries = 2;
    for (int attempt = 1; attempt <= kTries; ++attempt) {
      const Round alone(std::span(&each, 1), libtorch, options);
      take(alone, std::span(&each, 1));
      if (alone.cancelled()) return found;
      if (found.contains(each)) break;
      if (alone.ended_from_outside() && attempt < kTries) continue;
      found[each] = alone.end();
      break;
    }
  }
  return found;
}

}  // namespace

std::string told(const ProbedPlugin& probed) {
  if (!probed.kept) return probed.verdict.message;
  return fmt::format("{} (found {}, when this very build was first opened)", probed.verdict.message,
                     probed.verdict.found);
}

std::vector<ProbedPlugin> probe_plugins(std::span<const PluginInfo* const> plugins,
                                        const std::optional<Libtorch>& libtorch, const ProbeOptions& options) {
  const Verdicts verdicts(options.cache, libtorch);
  std::vector<ProbedPlugin> probed;
  std::vector<const PluginInfo*> unseen;
  for (const PluginInfo* const plugin : plugins) {
    const std::optional<Verdict> kept = verdicts.of(*plugin);
    if (!kept) unseen.push_back(plugin);
    probed.push_back({plugin, kept.value_or(Verdict{}), kept.has_value()});
  }
  if (unseen.empty()) return probed;
  if (std::error_code error; !fs::exists(options.program, error)) {
    throw Refusal("no-probe",
                  fmt::format("{} is not there: this Tenon is not completely installed", options.program.string()));
  }
  for (auto& [plugin, verdict] : probe_now(unseen, libtorch, options)) {
    verdict.found = now();
    if (verdict.good || belongs_to_build(verdict.code)) verdicts.keep(*plugin, verdict);
    std::ranges::find(probed, plugin, &ProbedPlugin::plugin)->verdict = std::move(verdict);
  }
  return probed;
}

}  // namespace tenon::core
