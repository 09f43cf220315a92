// observer:console: what it writes, as lines, with a bar and as JSON.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <plugins/support/plugin.hpp>
#include <tenon/components/observer.hpp>

namespace tenon::test {
namespace {

using Kind = Event::Kind;

class ConsoleTest : public ::testing::Test {
 protected:
  void use(const std::string& progress, const std::string& interval = "0 s", const std::string& more = "") {
    console_ = make<Observer>("tenon_observers", "console",
                              R"({"progress": ")" + progress + R"(", "interval": ")" + interval + R"(")" + more + "}");
  }

  /// Until the test ends; nullptr: not set.
  void set_environment(const std::string& name, const char* value) {
    if (!former_.contains(name)) {
      const char* const before = std::getenv(name.c_str());
      former_[name] = before == nullptr ? std::nullopt : std::optional<std::string>(before);
    }
    value == nullptr ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value, 1);
  }

  void SetUp() override {
    for (const char* const name : {"COLUMNS", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"}) set_environment(name, nullptr);
    set_environment("LC_ALL", "C");
  }

  void TearDown() override {
    for (const auto& [name, value] : former_) {
      value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
    }
  }

  static Event event(Kind kind, int64_t step, int64_t epoch, std::string_view text = {}) {
    Event made;
    made.kind = kind;
    made.step = step;
    made.planned = 425;
    made.epoch = epoch;
    made.epochs = 25;
    made.text = text;
    return made;
  }

  /// What standard error gets from these events.
  std::string written(const std::vector<Event>& events) {
    ::testing::internal::CaptureStderr();
    for (const Event& each : events) console_->on(each);
    return ::testing::internal::GetCapturedStderr();
  }

  static Event training_step(int64_t step) {
    static const LoggedValue values[] = {{"train.loss", 0.08123},
                                         {"train.lr.opt", 0.00068},
                                         {"train.waiting", 0.021},
                                         {"train.copy", 0.004},
                                         {"train.compute", 0.975},
                                         {"train.loader.workers", 2},
                                         {"train.loader.samples_per_second", 9000}};
    Event made = event(Kind::kStep, step, step / 17);
    made.values = values;
    made.samples_per_second = 5123.4;
    made.remaining = 8;
    return made;
  }

  static Event at(Event event, double seconds) {
    event.elapsed = seconds;
    return event;
  }

  Made<Observer> console_;
  std::map<std::string, std::optional<std::string>> former_;
};

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST_F(ConsoleTest, WritesOneLineAnIntervalWithoutATerminal) {
  use("auto");
  EXPECT_EQ(written({event(Kind::kRunStart, 0, 0), training_step(166)}),
            "training for 425 steps, 25 epochs\n"
            "epoch 10/25  step 166/425  loss 0.08123  lr.opt 0.00068  5123 samples/s  8.0 s left  wait 2 %\n");
}

TEST_F(ConsoleTest, KeepsLinesAboutTrainingAnIntervalApart) {
  use("lines", "10 s");
  const auto step_at = [](int64_t step, double seconds) { return at(training_step(step), seconds); };
  const std::string text = written({event(Kind::kRunStart, 0, 0), step_at(10, 1), step_at(20, 9.9), step_at(30, 10.5),
                                    step_at(40, 20), step_at(50, 21)});
  EXPECT_EQ(text.find("step  20/425"), std::string::npos) << text;
  EXPECT_NE(text.find("step  30/425"), std::string::npos) << text;
  EXPECT_EQ(text.find("step  40/425"), std::string::npos) << text;
  EXPECT_NE(text.find("step  50/425"), std::string::npos) << text;
}

TEST_F(ConsoleTest, JoinsWhatBelongsToOneStepIntoOneRow) {
  use("lines");
  const LoggedValue values[] = {{"validate.acc", 0.99}, {"validate.loss", 12.345678}};
  Event validated = event(Kind::kValidateEnd, 17, 0, "val");
  validated.values = values;
  EXPECT_EQ(written({training_step(17), event(Kind::kCheckpoint, 17, 0, "runs/1/checkpoints/step-000017"),
                     event(Kind::kValidateStart, 17, 0, "val"), validated, event(Kind::kBest, 17, 0),
                     event(Kind::kCheckpoint, 34, 1), event(Kind::kMessage, 34, 1, "the disk is nearly full")}),
            "epoch  2/25  step  17/425  loss 0.08123  lr.opt 0.00068  5123 samples/s  8.0 s left  wait 2 %\n"
            "epoch  1/25  step  17/425  loss 0.08123  saved  acc 0.9900  loss 12.35  best\n"
            "epoch  2/25  step  34/425  loss 0.08123  saved\n"
            "the disk is nearly full\n");
}

TEST_F(ConsoleTest, TellsTestExportAndEnd) {
  use("lines");
  const LoggedValue values[] = {{"test.acc", 0.9917}};
  Event tested = event(Kind::kTest, 425, 24);
  tested.values = values;
  Event ended = event(Kind::kRunEnd, 425, 24, "done");
  ended.elapsed = 14.2;
  EXPECT_EQ(written({tested, event(Kind::kExport, 425, 24, "runs/digits/1/exports/net.pt"), ended}),
            "test  acc 0.9917\n"
            "exported and verified  runs/digits/1/exports/net.pt\n"
            "done  425 steps in 14 s\n");
}

TEST_F(ConsoleTest, TellsWhereAResumedRunGoesOn) {
  use("lines");
  EXPECT_EQ(written({event(Kind::kRunStart, 85, 5, "runs/digits/1")}),
            "runs/digits/1\ntraining goes on at step  85/425\n");
}

TEST_F(ConsoleTest, LeavesOutWhatIsNotKnownYet) {
  use("lines");
  EXPECT_EQ(written({event(Kind::kCheckpoint, 3, 0), event(Kind::kRunEnd, 3, 0, "stopped")}),
            "epoch  1/25  step   3/425  saved\nstopped  3 steps in 0.0 s\n");
}

TEST_F(ConsoleTest, HasSome200LinesHoweverLongTrainingTakes) {
  for (const double seconds : {60.0, 3600.0, 86400.0, 30 * 86400.0}) {
    for (const int64_t steps : {int64_t{500}, int64_t{100000}}) {
      use("lines", "10 s");
      std::vector<Event> events{event(Kind::kRunStart, 0, 0)};
      for (int64_t step = 1; step <= steps; ++step) {
        events.push_back(at(training_step(step), seconds * static_cast<double>(step) / static_cast<double>(steps)));
        events.back().planned = steps;
      }
      const std::size_t lines = lines_in(written(events));
      EXPECT_LE(lines, 220U) << seconds << " s, " << steps << " steps";
      EXPECT_GE(lines, static_cast<std::size_t>(std::min(seconds / 12, 100.0)))
          << seconds << " s, " << steps << " steps";
    }
  }
}

TEST_F(ConsoleTest, ShowsTheFirstValidationsAndThenSomeOfThem) {
  use("lines", "10 s");
  const LoggedValue values[] = {{"validate.acc", 0.99}};
  std::vector<Event> events;
  constexpr int64_t kEpochs = 5000;
  for (int64_t epoch = 1; epoch <= kEpochs; ++epoch) {
    for (const Kind kind : {Kind::kCheckpoint, Kind::kValidateEnd, Kind::kBest}) {
      events.push_back(event(kind, epoch, epoch - 1));
      events.back().planned = events.back().epochs = kEpochs;
      if (kind == Kind::kValidateEnd) events.back().values = values;
    }
  }
  const std::string text = written(events);
  EXPECT_LE(lines_in(text), 170U);
  EXPECT_NE(text.find("step   40/5000  saved  acc 0.9900  best\nfrom here on only some"), std::string::npos) << text;
  EXPECT_EQ(text.find("step   42/5000"), std::string::npos) << text;
  EXPECT_NE(text.find("step 2518/5000"), std::string::npos) << text;
  EXPECT_NE(text.find("step 5000/5000  saved  acc 0.9900  best"), std::string::npos) << text;
  EXPECT_EQ(text.find("from here on", text.find("from here on") + 1), std::string::npos) << "said twice";
}

TEST_F(ConsoleTest, RedrawsOneLineInBarMode) {
  use("bar");
  const std::string erase = "\r\x1b[2K";
  EXPECT_EQ(written({at(training_step(106), 1), at(training_step(213), 2), event(Kind::kMessage, 213, 12, "hello")}),
            erase + "##......  epoch  7/25  step 106/425  loss 0.08123  8.0 s left  5123/s  wait 2 %" +      //
                erase + "####....  epoch 13/25  step 213/425  loss 0.08123  8.0 s left  5123/s  wait 2 %" +  //
                erase + "hello\n");
}

TEST_F(ConsoleTest, RedrawsAtMostTenTimesASecond) {
  use("bar");
  std::vector<Event> events;
  for (int64_t step = 1; step <= 400; ++step)
    events.push_back(at(training_step(step), static_cast<double>(step) / 200));
  const std::string text = written(events);
  const auto drawn = std::count(text.begin(), text.end(), '\r');
  EXPECT_GE(drawn, 18);
  EXPECT_LE(drawn, 21);
}

TEST_F(ConsoleTest, TellsInTheBarWhileItValidates) {
  use("bar");
  const auto shown = [&](std::string_view name) { return written({event(Kind::kValidateStart, 17, 0, name)}); };
  EXPECT_NE(shown("validate").find("epoch  1/25  step  17/425  validating"), std::string::npos);
  EXPECT_NE(shown("validate.clean").find("step  17/425  validating clean"), std::string::npos);
}

TEST_F(ConsoleTest, KeepsTheRowOfASaveOpenWhileItValidates) {
  use("bar");
  const LoggedValue values[] = {{"validate.acc", 0.99}};
  Event validated = event(Kind::kValidateEnd, 17, 0);
  validated.values = values;
  EXPECT_EQ(written({event(Kind::kCheckpoint, 17, 0), event(Kind::kValidateStart, 17, 0, "validate"), validated}),
            "epoch  1/25  step  17/425  saved  acc 0.9900");
}

TEST_F(ConsoleTest, TakesTheBarAwayWhenTheRunFails) {
  use("bar");
  const std::string text = written({training_step(17), event(Kind::kFailure, 17, 0, "the disk is full")});
  EXPECT_TRUE(text.ends_with("wait 2 %\r\x1b[2K")) << text;
}

TEST_F(ConsoleTest, FitsTheBarIntoTheTerminal) {
  const std::map<std::string, std::string> expected{
      {"200", "####............  epoch  7/25  step 106/425  loss 0.08123  8.0 s left  5123/s  wait 2 %"},
      {"72", "##........  epoch  7/25  step 106/425  loss 0.08123  8.0 s left  5123/s"},
      {"60", "#.....  epoch  7/25  step 106/425  loss 0.08123  8.0 s left"},
      {"42", "###...........  epoch  7/25  step 106/425"},
      {"40", "epoch  7/25  step 106/425  loss 0.08123"},
      {"20", "epoch  7/25"},
      {"6", "epoch"},
      {"1", ""}};
  for (const auto& [columns, line] : expected) {
    set_environment("COLUMNS", columns.c_str());
    use("bar");
    const std::string text = written({training_step(106)});
    EXPECT_EQ(text.substr(text.find("\x1b[2K") + 4), line) << columns << " columns";
    EXPECT_LT(line.size(), std::stoul(columns));
  }
}

TEST_F(ConsoleTest, CutsNoWideCharacter) {
  const auto shown = [&](const char* columns) {
    set_environment("COLUMNS", columns);
    use("bar");
    Event validating = event(Kind::kValidateStart, 1, 0, "validate.検証データ");
    validating.epochs = validating.planned = 1;
    const std::string text = written({validating});
    return text.substr(text.find("\x1b[2K") + 4);
  };
  EXPECT_EQ(shown("80"), "################  epoch 1/1  step 1/1  validating 検証データ");
  EXPECT_EQ(shown("51"), "######  epoch 1/1  step 1/1  validating 検証データ");
  EXPECT_EQ(shown("48"), "################  epoch 1/1  step 1/1") << "ten columns, not five";
}

TEST_F(ConsoleTest, ClearsAllRowsIntoWhichANarrowerTerminalBreaksTheBar) {
  set_environment("COLUMNS", "80");
  use("bar");
  EXPECT_TRUE(written({at(training_step(106), 1)}).starts_with("\r\x1b[2K##"));
  set_environment("COLUMNS", "40");
  EXPECT_TRUE(written({at(training_step(213), 2)}).starts_with("\r\x1b[1A\x1b[Jepoch"));
  EXPECT_TRUE(written({at(training_step(214), 3)}).starts_with("\r\x1b[2Kepoch"));
}

TEST_F(ConsoleTest, DrawsBlocksWhereTheLocaleHasThem) {
  set_environment("LC_ALL", "C.UTF-8");
  set_environment("COLUMNS", "100");
  use("bar");
  const std::string text = written({training_step(425)});
  EXPECT_NE(text.find("━━━━━━━━━━━━━━━━  epoch 25/25  step 425/425"), std::string::npos) << text;
  EXPECT_EQ(text.find("\x1b[3"), std::string::npos) << "colours without a terminal";
}

TEST_F(ConsoleTest, PaintsWhereSomebodyAsksForIt) {
  const auto painted = [&](const char* color) {
    use("lines", "0 s", std::string(R"(, "color": ")") + color + "\"");
    return written({event(Kind::kBest, 17, 0)}).find("\x1b[32mbest\x1b[0m") != std::string::npos;
  };
  EXPECT_FALSE(painted("auto")) << "this is no terminal";
  EXPECT_TRUE(painted("always"));
  set_environment("CLICOLOR_FORCE", "1");
  EXPECT_TRUE(painted("auto"));
  EXPECT_FALSE(painted("never"));
  set_environment("NO_COLOR", "1");
  EXPECT_FALSE(painted("auto"));
  EXPECT_TRUE(painted("always"));
}

TEST_F(ConsoleTest, ShowsMessagesAloneWhereNoProgressIsWanted) {
  use("none");
  EXPECT_EQ(written({event(Kind::kRunStart, 0, 0, "runs/digits/1"), training_step(17), event(Kind::kCheckpoint, 17, 0),
                     event(Kind::kMessage, 17, 0, "the disk is nearly full"), event(Kind::kRunEnd, 425, 24, "done")}),
            "the disk is nearly full\n");
}

TEST_F(ConsoleTest, WritesJsonAsTheLogDoes) {
  use("bar", "1 h", R"(, "format": "json")");
  const LoggedValue values[] = {{"validate.acc", 0.1},
                                {"validate.loss", 3},
                                {"validate.nan", std::nan("")},
                                {"validate.inf", -std::numeric_limits<double>::infinity()}};
  Event validated = event(Kind::kValidateEnd, 17, 1);
  validated.values = values;
  const std::string text =
      written({training_step(17), event(Kind::kValidateStart, 17, 1, "validate"), validated,
               event(Kind::kMessage, 17, 1, "a \"quote\", a \\, a\nline, a\x01 and no UTF-8: \xff \xed\xa0\x80 é 検")});
  ASSERT_EQ(lines_in(text), 3U) << text;
  std::vector<nlohmann::json> lines;
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    lines.push_back(nlohmann::json::parse(text.substr(begin, text.find('\n', begin) - begin)));
    EXPECT_NEAR(lines.back().at("time").get<double>(), static_cast<double>(std::time(nullptr)), 60);
    lines.back().erase("time");
  }
  EXPECT_EQ(lines[0], nlohmann::json::parse(R"({"event": "step", "step": 17, "epoch": 1, "values":
      {"train.loss": 0.08123, "train.lr.opt": 0.00068, "train.waiting": 0.021, "train.copy": 0.004,
       "train.compute": 0.975, "train.loader.workers": 2.0, "train.loader.samples_per_second": 9000.0}})"));
  EXPECT_EQ(lines[1], nlohmann::json::parse(R"({"event": "validate", "step": 17, "epoch": 1, "values":
      {"validate.acc": 0.1, "validate.loss": 3.0, "validate.nan": "NaN", "validate.inf": "-Infinity"}})"));
  EXPECT_TRUE(lines[1]["values"]["validate.loss"].is_number_float());
  EXPECT_EQ(lines[2].at("text"), "a \"quote\", a \\, a\nline, a\x01 and no UTF-8: \uFFFD \uFFFD\uFFFD\uFFFD é 検");
}

TEST_F(ConsoleTest, SpellsTimesAsPeopleDo) {
  use("lines");
  const auto left = [&](double seconds) {
    Event each = event(Kind::kStep, 1, 0);
    each.remaining = seconds;
    const std::string text = written({each});
    return text.substr(text.find("samples/s  ") + 11);
  };
  EXPECT_EQ(left(0.44), "0.4 s left\n");
  EXPECT_EQ(left(42.3), "42 s left\n");
  EXPECT_EQ(left(185), "3 min 05 s left\n");
  EXPECT_EQ(left(7625), "2 h 07 min left\n");
}

TEST_F(ConsoleTest, RefusesAnUnknownStyle) {
  EXPECT_EQ(error_of([&] { use("bars"); }).pointer(), "/progress");
  EXPECT_EQ(error_of([&] { use("bar", "0 s", R"(, "format": "xml")"); }).pointer(), "/format");
}

}  // namespace
}  // namespace tenon::test
