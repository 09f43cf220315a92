// observer:console: how training goes, on standard error.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <console/format.hpp>
#include <console/json_line.hpp>
#include <console/pace.hpp>
#include <console/screen.hpp>
#include <tenon/components/observer.hpp>
#include <tenon/registration.hpp>

namespace tenon::observers {

enum class ProgressStyle { kAuto, kBar, kLines, kNone };
TENON_ENUM(ProgressStyle, "auto", "bar", "lines", "none")

enum class LineFormat { kText, kJson };
TENON_ENUM(LineFormat, "text", "json")

enum class Colours { kAuto, kAlways, kNever };
TENON_ENUM(Colours, "auto", "always", "never")

struct ConsoleParams {
  ProgressStyle progress = ProgressStyle::kAuto;
  LineFormat format = LineFormat::kText;
  Colours color = Colours::kAuto;
  Time interval{10};

  TENON_PARAMS(
      ConsoleParams,
      field(&ConsoleParams::progress, "progress",
            "bar: one line that is redrawn; lines: one line an interval; auto: bar on a terminal that "
            "somebody looks at; none: only messages that people should read"),
      field(&ConsoleParams::format, "format",
            "text for people; json for programs: every event on a line as in log.jsonl, whatever the interval"),
      field(&ConsoleParams::color, "color",
            "auto: on a terminal, as NO_COLOR, CLICOLOR and CLICOLOR_FORCE in the environment say"),
      field(&ConsoleParams::interval, "interval",
            "Least time between two lines about training; it grows with the run, which has some 200 lines at "
            "most and as many about what is saved and validated"))
};

namespace {

constexpr std::string_view kLoss = "train.loss";
constexpr std::string_view kWaiting = "train.waiting";

/// "train.loss.kd" as "loss.kd": the part after the first dot.
std::string_view short_key(std::string_view key) { return key.substr(key.find('.') + 1); }

std::string value_text(const LoggedValue& value) {
  return "  " + std::string(short_key(value.key)) + " " + number_text(value.value);
}

std::string waiting_text(double share) {
  return "wait " + std::to_string(std::lround(std::clamp(share, 0.0, 1.0) * 100)) + " %";
}

/// What a line has in few words, or has no room for.
bool tells_of_time(std::string_view key) {
  return key == kWaiting || key == "train.copy" || key == "train.compute" || key.starts_with("train.loader.");
}

std::string epoch_text(const Event& event) {
  return "epoch " + count_text(std::min(event.epoch + 1, event.epochs), event.epochs);
}

std::string step_text(const Event& event) { return "step " + count_text(event.step, event.planned); }

std::string position_text(const Event& event) { return epoch_text(event) + "  " + step_text(event); }

double share_done(const Event& event) {
  return event.planned > 0 ? static_cast<double>(event.step) / static_cast<double>(event.planned) : 0;
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

/// A row of the output belongs to a step and grows while events of that step arrive: saved, what validation found, best.
class Console final : public Observer {
 public:
  explicit Console(const ConsoleParams& params) : params_(params), pace_(params.interval.seconds) {}

  static std::vector<std::string> traits() { return {"deterministic"}; }

  void on(const Event& event) override {
    if (!screen_) screen_.emplace(is_live(), has_colours());
    if (params_.progress == ProgressStyle::kNone && event.kind != Event::Kind::kMessage) return;
    if (params_.format == LineFormat::kJson) return screen_->write(json_line(event, seconds_since_1970()));
    switch (event.kind) {
      case Event::Kind::kRunStart: return start(event);
      case Event::Kind::kStep: return step(event);
      case Event::Kind::kValidateStart: return validating(event);
      case Event::Kind::kValidateEnd: return append(event, values_text(event));
      case Event::Kind::kCheckpoint: return append(event, "  " + screen_->styled("saved", Style::kDim));
      case Event::Kind::kBest: return append(event, "  " + screen_->styled("best", Style::kGood));
      case Event::Kind::kTest: return line("test" + values_text(event));
      case Event::Kind::kExport: return line("exported and verified  " + std::string(event.text));
      case Event::Kind::kMessage:
      case Event::Kind::kTiming: return line(event.text);
      case Event::Kind::kRunEnd: return end(event);
      case Event::Kind::kFailure: return clear();
    }
  }

 private:
  [[nodiscard]] bool is_live() const {
    if (params_.format == LineFormat::kJson) return false;
    return params_.progress == ProgressStyle::kBar ||
           (params_.progress == ProgressStyle::kAuto && Screen::is_terminal());
  }

  [[nodiscard]] bool has_colours() const {
    return params_.color == Colours::kAlways || (params_.color == Colours::kAuto && Screen::wants_colours());
  }

  [[nodiscard]] std::string values_text(const Event& event) const {
    std::string text;
    for (const LoggedValue& value : event.values) {
      text += "  " + std::string(short_key(value.key)) + " " + screen_->styled(number_text(value.value), Style::kBold);
    }
    return text;
  }

  void start(const Event& event) {
    pace_.told(event);
    if (!event.text.empty()) line(event.text);
    line(event.step == 0 ? "training for " + std::to_string(event.planned) + " steps, " + std::to_string(event.epochs) +
                               (event.epochs == 1 ? " epoch" : " epochs")
                         : "training goes on at step " + count_text(event.step, event.planned));
  }

  void step(const Event& event) {
    for (const LoggedValue& value : event.values) {
      if (value.key == kLoss) loss_ = value.value;
      if (value.key == kWaiting) waiting_ = value.value;
    }
    if (!screen_->live()) return tell_step(event);
    if (!pace_.draw_due(event)) return;
    pace_.drawn(event);
    draw(event, "");
  }

  /// A line has room for the rates and the parts of the loss too.
  void tell_step(const Event& event) {
    close_row();
    if (!pace_.line_due(event)) return;
    pace_.told(event);
    std::string text = position_text(event);
    for (const LoggedValue& value : event.values) {
      if (!tells_of_time(value.key)) text += value_text(value);
    }
    text += "  " + number_text(event.samples_per_second) + " samples/s";
    if (event.remaining >= 0) text += "  " + duration_text(event.remaining) + " left";
    if (waiting_) text += "  " + waiting_text(*waiting_);
    line(text);
  }

  /// A row that is still open stays, since what is found belongs to it.
  void validating(const Event& event) {
    if (!screen_->live() || row_ == event.step) return;
    const std::string_view name = short_key(event.text);
    draw(event, name == event.text ? "validating" : "validating " + std::string(name));
  }

  /// `doing`: what goes on instead of training.
  void draw(const Event& event, const std::string& doing) {
    close_row();
    std::vector<std::string> parts{epoch_text(event), step_text(event)};
    if (!doing.empty()) parts.push_back(doing);
    if (loss_) parts.push_back("loss " + number_text(*loss_));
    if (event.remaining >= 0) parts.push_back(duration_text(event.remaining) + " left");
    if (event.samples_per_second > 0) parts.push_back(number_text(event.samples_per_second) + "/s");
    if (waiting_) parts.push_back(waiting_text(*waiting_));
    screen_->draw(share_done(event), parts);
  }

  void end(const Event& event) {
    line(std::string(event.text) + "  " +
         screen_->styled(std::to_string(event.step) + " steps in " + duration_text(event.elapsed), Style::kDim));
  }

  void line(std::string_view text) {
    close_row();
    screen_->write(std::string(text) + "\n");
  }

  void append(const Event& event, const std::string& text) {
    if (row_ == event.step) return screen_->write(text);
    if (left_out_ == event.step) return;
    close_row();
    if (!pace_.row_due(event)) return leave_out(event);
    pace_.rowed(event);
    row_ = event.step;
    screen_->write(position_text(event) + (loss_ ? "  loss " + number_text(*loss_) : std::string()) + text);
  }

  void leave_out(const Event& event) {
    if (!left_out_) line("from here on only some of what is saved and validated is shown; log.jsonl has all of it");
    left_out_ = event.step;
  }

  void close_row() {
    if (row_) screen_->write("\n");
    row_.reset();
  }

  /// Leaves the cursor at the beginning of an empty line.
  void clear() {
    close_row();
    screen_->write("");
  }

  ConsoleParams params_;
  Pace pace_;
  std::optional<Screen> screen_;     // made by the first event: what standard error is may still change until then
  std::optional<int64_t> row_;       // step of the row that is not closed yet
  std::optional<int64_t> left_out_;  // newest step that has no row
  std::optional<double> loss_;       // newest
  std::optional<double> waiting_;    // newest
};

TENON_COMPONENT(Console, ConsoleParams, "console",
                "Shows progress, validations, checkpoints and exports on standard error")

}  // namespace tenon::observers
