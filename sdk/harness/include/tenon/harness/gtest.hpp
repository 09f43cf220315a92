// Words for GoogleTest over the harness; the one header of it that needs GoogleTest.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include <tenon/error.hpp>
#include <tenon/harness/components.hpp>

namespace tenon::harness {

/// EXPECT_TRUE(refused([&] { … }, ErrorCode::kConfig, "/size", "at least 1")): the action throws an Error of this code
/// and pointer whose message holds the text.
template <class Action>
[[nodiscard]] ::testing::AssertionResult refused(const Action& action, ErrorCode code, const std::string& pointer = "",
                                                 const std::string& text = "") {
  const Error error = error_of(action);
  const std::string message = error.what();
  if (error.code() == code && error.pointer() == pointer && message.find(text) != std::string::npos) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "the error has exit code " << exit_code(error.code()) << ", the pointer \""
                                       << error.pointer() << "\" and says: " << message;
}

}  // namespace tenon::harness
