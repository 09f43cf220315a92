// log.jsonl: one event a line, whatever happened before.
#include <core/storage/event_log.hpp>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <core/storage/temporary_folder.hpp>
#include <tenon/error.hpp>

namespace tenon::core {
namespace {

double noon() { return 12.25; }

TEST(EventLog, writes_one_object_a_line_at_once) {
  const TemporaryFolder folder;
  EventLog log(folder / "log.jsonl", noon);
  log.write("step", 1, {{"train.loss", 0.5}, {"train.grad", std::nan("")}});
  EXPECT_EQ(content_of(folder / "log.jsonl"),
            "{\"event\":\"step\",\"step\":1,\"time\":12.25,\"train.loss\":0.5,\"train.grad\":\"NaN\"}\n");
  log.write("message", 1, {{"text", "two\nlines"}});
  log.sync();
  const std::string text = content_of(folder / "log.jsonl");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

TEST(EventLog, goes_on_behind_the_last_whole_line) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "log.jsonl";
  { EventLog(path, noon).write("step", 5); }
  const std::string whole = content_of(path);
  for (const std::string& torn : {std::string(), std::string("{\"event\":\"st"), std::string(200'000, 'x')}) {
    put(path, whole + torn);
    EventLog log(path, noon);
    EXPECT_EQ(content_of(path), whole);
    EXPECT_THROW(log.write("step", 4), std::logic_error);
    EXPECT_NO_THROW(log.write("step", 5));
  }
}

TEST(EventLog, finds_the_last_line_however_long_it_is) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "log.jsonl";
  {
    EventLog log(path, noon);
    log.write("step", 2);
    log.write("message", 3, {{"text", std::string(300'000, 'x')}});
  }
  const std::string whole = content_of(path);
  put(path, whole + "{");
  EventLog log(path, noon);
  EXPECT_EQ(content_of(path), whole);
  EXPECT_THROW(log.write("step", 2), std::logic_error);
}

TEST(EventLog, a_file_of_one_torn_line_starts_afresh) {
  const TemporaryFolder folder;
  put(folder / "log.jsonl", "{\"event\":");
  EventLog(folder / "log.jsonl", noon).write("step", 0);
  EXPECT_EQ(content_of(folder / "log.jsonl"), "{\"event\":\"step\",\"step\":0,\"time\":12.25}\n");
}

TEST(EventLog, steps_do_not_fall) {
  const TemporaryFolder folder;
  EventLog log(folder / "log.jsonl", noon);
  log.write("step", 5);
  log.write("validate", 5);
  EXPECT_THROW(log.write("step", 4), std::logic_error);
  log.write("step", 6);
}

TEST(LastEvent, is_the_last_whole_line_or_nothing) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "log.jsonl";
  EXPECT_FALSE(last_event(path));
  for (const char* const text : {"", "\n", "torn", "[1]\n", "what\n"}) {
    put(path, text);
    EXPECT_FALSE(last_event(path)) << text;
  }
  put(path, "{\"event\":\"a\"}\n{\"event\":\"b\",\"step\":7}\n{\"event\":");
  EXPECT_EQ(last_event(path)->dump(), R"({"event":"b","step":7})");
  EXPECT_THROW((void)last_event(folder.path()), Error);
}

TEST(VisitLines, gives_each_whole_line_and_its_place) {
  const TemporaryFolder folder;
  const std::string text = "a\n\n" + std::string(70'000, 'x') + "\nlast\ntorn";
  put(folder / "log.jsonl", text);
  const OpenedFile opened = open_for_reading(folder / "log.jsonl", ErrorCode::kStorage);
  std::vector<std::string> lines;
  uint64_t place = 0;
  const uint64_t end = visit_lines(opened.file, opened.size, folder / "log.jsonl", [&](const LogLine& line) {
    EXPECT_EQ(line.begin, place);
    EXPECT_EQ(line.end, place + line.text.size() + 1);
    EXPECT_EQ(text.substr(line.begin, line.text.size()), line.text);
    place = line.end;
    lines.emplace_back(line.text);
  });
  EXPECT_EQ(end, text.size() - 4);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[1], "");
  EXPECT_EQ(lines[3], "last");
}

TEST(EventLog, a_folder_that_is_missing_is_a_storage_error) {
  const TemporaryFolder folder;
  EXPECT_THROW(EventLog(folder / "none/log.jsonl"), Error);
  EXPECT_THROW(EventLog("/dev/full").write("step", 1), Error);
}

}  // namespace
}  // namespace tenon::core
