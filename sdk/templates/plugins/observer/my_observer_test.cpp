// MyObserver: a line for each value that is asked for, also over a run that is resumed.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tenon/components/observer.hpp>
#include <tenon/harness/components.hpp>
#include <tenon/harness/gtest.hpp>
#include <tenon/harness/progress.hpp>

namespace {

using tenon::Event;
using tenon::harness::feed;
using tenon::harness::make;

/// Two epochs of three steps, with an accuracy of 0.5, then 0.75.
tenon::harness::Course course() {
  tenon::harness::Course course;
  course.steps = 6;
  course.steps_per_epoch = 3;
  course.metric = [](int64_t epoch) { return 0.5 + 0.25 * static_cast<double>(epoch); };
  return course;
}

class MyObserverTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(file_); }
  void TearDown() override { std::filesystem::remove(file_); }

  [[nodiscard]] auto observer(const std::string& more = "") const {
    return make<tenon::Observer>("my_observer", R"({"file": ")" + file_.string() + "\"" + more + "}");
  }
  [[nodiscard]] std::string written() const {
    std::ostringstream text;
    text << std::ifstream(file_).rdbuf();
    return text.str();
  }

  const std::filesystem::path file_ = std::filesystem::current_path() / "my_observer_test.csv";  // ctest's build folder
};

TEST_F(MyObserverTest, WritesALineForEachValidation) {
  feed(*observer(), tenon::harness::events_of(course()), course());
  EXPECT_EQ(written(), "step,key,value\n3,validate.acc,0.5\n6,validate.acc,0.75\n");
}

TEST_F(MyObserverTest, WritesTheKeysThatItIsAskedFor) {
  feed(*observer(R"(, "prefix": "test.")"), tenon::harness::events_of(course()), course());
  EXPECT_EQ(written(), "step,key,value\n6,test.acc,0.5\n");
}

TEST_F(MyObserverTest, GoesOnInItsFileWhenTheRunIsResumed) {
  feed(*observer(), {{Event::Kind::kRunStart, 0}, {Event::Kind::kValidateEnd, 3, "", {{"validate.acc", 0.5}}}},
       course());
  feed(*observer(), {{Event::Kind::kRunStart, 3}, {Event::Kind::kValidateEnd, 6, "", {{"validate.acc", 1}}}}, course());
  EXPECT_EQ(written(), "step,key,value\n3,validate.acc,0.5\n6,validate.acc,1\n");
}

TEST_F(MyObserverTest, SaysWhichFileCannotBeOpened) {
  const auto nowhere = make<tenon::Observer>("my_observer", R"({"file": "/nowhere/values.csv"})");
  EXPECT_TRUE(tenon::harness::refused(
      [&] {
        feed(*nowhere, {{Event::Kind::kRunStart, 0}}, course());
      },
      tenon::ErrorCode::kStorage, "", "/nowhere/values.csv cannot be opened"));
}

}  // namespace
