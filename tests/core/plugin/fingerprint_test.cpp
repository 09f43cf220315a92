// Build facts that must agree, and those that may be missing.
#include <core/plugin/fingerprint.hpp>

#include <gtest/gtest.h>

#include <core/plugin/refusal.hpp>

namespace tenon::core {
namespace {

constexpr const char* kHost = "cxxabi=itanium string=cxx11 debug=0 sanitize=none libtorch=2.11.0 cuda=13";

TEST(Fingerprint, of_this_host_agrees_with_itself_and_names_libtorch) {
  EXPECT_EQ(fingerprint_difference(host_fingerprint(), host_fingerprint()), "");
  EXPECT_TRUE(parse_fingerprint(host_fingerprint()).contains("libtorch"));
}

TEST(Fingerprint, libtorch_counts_only_for_plugins_over_it) {
  EXPECT_EQ(fingerprint_difference("cxxabi=itanium string=cxx11 debug=0 sanitize=none", kHost), "");
  EXPECT_EQ(fingerprint_difference("cxxabi=itanium string=cxx11 debug=0 sanitize=none libtorch=2.10.0 cuda=13", kHost),
            "it was built differently (libtorch: plugin 2.10.0, this Tenon 2.11.0); rebuild the plugin against this "
            "Tenon, or use "
            "the Tenon that it was built for");
}

TEST(Fingerprint, names_both_sides_of_every_difference) {
  const std::string text =
      fingerprint_difference("cxxabi=itanium string=old debug=1 sanitize=address libtorch=2.11.0 cuda=12", kHost);
  for (const char* part : {"std::string layout: plugin old, this Tenon cxx11", "_GLIBCXX_DEBUG: plugin 1, this Tenon 0",
                           "sanitizer: plugin address, this Tenon none", "CUDA: plugin 12, this Tenon 13"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

TEST(Fingerprint, does_not_overlook_facts_that_one_side_lacks) {
  EXPECT_NE(fingerprint_difference("cxxabi=itanium string=cxx11 debug=0", kHost)
                .find("sanitizer: plugin nothing said, this Tenon none"),
            std::string::npos);
  EXPECT_NE(
      fingerprint_difference(std::string(kHost) + " rtti=off", kHost).find("rtti: plugin off, this Tenon nothing said"),
      std::string::npos);
  EXPECT_NE(
      fingerprint_difference(kHost, std::string(kHost) + " rtti=off").find("rtti: plugin nothing said, this Tenon off"),
      std::string::npos);
  EXPECT_NE(fingerprint_difference("", kHost), "");
}

TEST(Fingerprint, refuses_text_of_another_form) {
  for (const char* text : {"cxxabi", "=1", "a=1 a=2"}) {
    EXPECT_THROW((void)parse_fingerprint(text), Refusal) << text;
  }
  EXPECT_EQ(parse_fingerprint("a=1  b= c=x=y"),
            (std::map<std::string, std::string>{{"a", "1"}, {"b", ""}, {"c", "x=y"}}));
}

}  // namespace
}  // namespace tenon::core
