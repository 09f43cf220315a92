// observer:console: how training goes, on standard error.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <console/format.hpp>
#include <console/screen.hpp>
#include <tenon/components/observer.hpp>
#include <tenon/registration.hpp>

namespace tenon::observers {

enum class ProgressStyle { kAuto, kBar, kLines };
TENON_ENUM(ProgressStyle, "auto", "bar", "lines")

struct ConsoleParams {
  ProgressStyle progress = ProgressStyle::kAuto;
  Time interval{10};

  TENON_PARAMS(ConsoleParams,
               field(&ConsoleParams::progress, "progress",
                     "bar: one line that is redrawn; lines: one line an interval; auto: bar on a terminal"),
               field(&ConsoleParams::interval, "interval",
                     "Least time between two lines about training; what is saved or validated always has a line"))
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
  return "  wait " + std::to_string(std::lround(std::clamp(share, 0.0, 1.0) * 100)) + " %";
}

std::string position_text(const Event& event) {
  return "epoch " + count_text(std::min(event.epoch + 1, event.epochs), event.epochs) + "  step " +
         count_text(event.step, event.planned);
}

std::string left_text(const Event& event) {
  return event.remaining < 0 ? std::string() : "  " + duration_text(event.remaining) + " left";
}

}  // namespace

/// A row of the output belongs to a step and grows while events of that step arrive: saved, what validation found, best.
class Console final : public Observer {
 public:
  explicit Console(const ConsoleParams& params) : params_(params) {}

  static std::vector<std::string> traits() { return {"deterministic"}; }

  void on(const Event& event) override {
    if (!screen_) screen_.emplace(is_live());
    switch (event.kind) {
      case Event::Kind::kRunStart: return start(event);
      case Event::Kind::kStep: return step(event);
      case Event::Kind::kValidateStart: return;
      case Event::Kind::kValidateEnd: return append(event, values_text(event));
      case Event::Kind::kCheckpoint: return append(event, "  " + screen_->styled("saved", Style::kDim));
      case Event::Kind::kBest: return append(event, "  " + screen_->styled("best", Style::kGood));
      case Event::Kind::kTest: return line("test" + values_text(event));
      case Event::Kind::kExport: return line("exported and verified  " + std::string(event.text));
      case Event::Kind::kMessage: return line(event.text);
      case Event::Kind::kRunEnd: return end(event);
      case Event::Kind::kFailure: return close_row();
    }
  }

 private:
  [[nodiscard]] bool is_live() const {
    return params_.progress == ProgressStyle::kBar ||
           (params_.progress == ProgressStyle::kAuto && Screen::is_terminal());
  }

  [[nodiscard]] std::string values_text(const Event& event) const {
    std::string text;
    for (const LoggedValue& value : event.values) {
      text += "  " + std::string(short_key(value.key)) + " " + screen_->styled(number_text(value.value), Style::kBold);
    }
    return text;
  }

  void start(const Event& event) {
    told_ = event.elapsed;
    if (!event.text.empty()) line(event.text);
    line(event.step == 0 ? "training for " + std::to_string(event.planned) + " steps, " + std::to_string(event.epochs) +
                               (event.epochs == 1 ? " epoch" : " epochs")
                         : "training goes on at step " + count_text(event.step, event.planned));
  }

  /// The bar has room for the loss alone; a line shows the rates and the parts of the loss too.
  void step(const Event& event) {
    close_row();
    std::string values;
    std::string waiting;
    for (const LoggedValue& value : event.values) {
      if (value.key == kLoss) loss_ = value.value;
      if (value.key == kWaiting) {
        waiting = waiting_text(value.value);
      } else if (value.key == kLoss || !screen_->live()) {
        values += value_text(value);
      }
    }
    if (screen_->live()) {
      const double share = event.planned > 0 ? static_cast<double>(event.step) / static_cast<double>(event.planned) : 0;
      return screen_->draw(share, position_text(event) + values + left_text(event) + waiting);
    }
    if (told_ && event.elapsed - *told_ < params_.interval.seconds) return;
    told_ = event.elapsed;
    line(position_text(event) + values + "  " + number_text(event.samples_per_second) + " samples/s" +
         left_text(event) + waiting);
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
    close_row();
    row_ = event.step;
    told_ = event.elapsed;
    screen_->write(position_text(event) + (loss_ ? "  loss " + number_text(*loss_) : std::string()) + text);
  }

  void close_row() {
    if (row_) screen_->write("\n");
    row_.reset();
  }

  ConsoleParams params_;
  std::optional<Screen> screen_;  // made by the first event: what standard error is may still change until then
  std::optional<int64_t> row_;    // step of the row that is not closed yet
  std::optional<double> loss_;    // newest
  std::optional<double> told_;    // seconds at the last line about training
};

TENON_COMPONENT(Console, ConsoleParams, "console",
                "Shows progress, validations, checkpoints and exports on standard error")

}  // namespace tenon::observers
