// observer:console: what it writes, as lines and with a bar.
#include <cstdlib>

#include <gtest/gtest.h>

#include <plugins/support/plugin.hpp>
#include <tenon/components/observer.hpp>

namespace tenon::test {
namespace {

using Kind = Event::Kind;

class ConsoleTest : public ::testing::Test {
 protected:
  void use(const std::string& progress, const std::string& interval = "0 s") {
    console_ = make<Observer>("tenon_observers", "console",
                              R"({"progress": ")" + progress + R"(", "interval": ")" + interval + R"("})");
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
  std::string written(std::initializer_list<Event> events) {
    ::testing::internal::CaptureStderr();
    for (const Event& each : events) console_->on(each);
    return ::testing::internal::GetCapturedStderr();
  }

  static Event training_step(int64_t step) {
    static const LoggedValue values[] = {{"train.loss", 0.08123}, {"train.lr.opt", 0.00068}, {"train.waiting", 0.021}};
    Event made = event(Kind::kStep, step, step / 17);
    made.values = values;
    made.samples_per_second = 5123.4;
    made.remaining = 8;
    return made;
  }

  Made<Observer> console_;
};

TEST_F(ConsoleTest, WritesOneLineAnIntervalWithoutATerminal) {
  use("auto");
  EXPECT_EQ(written({event(Kind::kRunStart, 0, 0), training_step(166)}),
            "training for 425 steps, 25 epochs\n"
            "epoch 10/25  step 166/425  loss 0.08123  lr.opt 0.00068  5123 samples/s  8.0 s left  wait 2 %\n");
}

TEST_F(ConsoleTest, KeepsLinesAboutTrainingAnIntervalApart) {
  use("lines", "10 s");
  const auto at = [](int64_t step, double seconds) {
    Event each = training_step(step);
    each.elapsed = seconds;
    return each;
  };
  const std::string text =
      written({event(Kind::kRunStart, 0, 0), at(10, 1), at(20, 9.9), at(30, 10.5), at(40, 20), at(50, 21)});
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

TEST_F(ConsoleTest, RedrawsOneLineInBarMode) {
  ::setenv("LC_ALL", "C", 1);
  use("bar");
  const std::string erase = "\r\x1b[2K";
  EXPECT_EQ(written({training_step(106), training_step(213), event(Kind::kMessage, 213, 12, "hello")}),
            erase + "####............  epoch  7/25  step 106/425  loss 0.08123  8.0 s left  wait 2 %" +  //
                erase + "########........  epoch 13/25  step 213/425  loss 0.08123  8.0 s left  wait 2 %" + erase +
                "hello\n");
  ::unsetenv("LC_ALL");
}

TEST_F(ConsoleTest, LeavesOutWholePartsWhereTheLineIsTooShort) {
  use("bar");
  Event crowded = training_step(106);
  crowded.remaining = 360000;
  const std::string text = written({crowded});
  EXPECT_EQ(text.substr(text.find("epoch")), "epoch  7/25  step 106/425  loss 0.08123  100 h 00 min left");
}

TEST_F(ConsoleTest, DrawsBlocksWhereTheLocaleHasThem) {
  ::setenv("LC_ALL", "C.UTF-8", 1);
  use("bar");
  const std::string text = written({training_step(425)});
  EXPECT_NE(text.find("━━━━━━━━━━━━━━━━  epoch 25/25  step 425/425"), std::string::npos) << text;
  EXPECT_EQ(text.find("\x1b[3"), std::string::npos) << "colours without a terminal";
  ::unsetenv("LC_ALL");
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
}

}  // namespace
}  // namespace tenon::test
