// What stands for characters that a terminal would obey.
#include <core/text/readable.hpp>

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

TEST(OneLine, escapes_whatever_ends_a_line_or_commands_a_terminal) {
  EXPECT_EQ(one_line("a\nb\tc\rd\x1b[31m\x7f"), R"(a\nb\tc\rd\u001b[31m\u007f)");
  EXPECT_EQ(one_line("\u202etxt.\u2066\u009b31m\u0085"), R"(\u202etxt.\u2066\u009b31m\u0085)");
}

TEST(OneLine, leaves_letters_of_all_scripts_and_bytes_that_are_no_text) {
  for (const std::string_view text : {"", "Übersicht 写真 é.jpg", "\xff\xc2", "\u00a0"}) {
    EXPECT_EQ(one_line(text), text);
  }
}

TEST(Readable, keeps_lines_and_sets_those_behind_the_first_off) {
  EXPECT_EQ(readable("a\nerror: b\n  c\n\nd\te\n"), "a\n  error: b\n  c\n\n  d\te\n");
  EXPECT_EQ(readable("\x1b[31m"), R"(\u001b[31m)");
}

}  // namespace
}  // namespace tenon::core
